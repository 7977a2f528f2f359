// One field of one partition, cut into cells; for each cell a row of bits says which members a value there may match.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "match/value.h"

namespace roamcast::match {

constexpr std::size_t most_cells = 128;

class Column {
public:
    explicit Column(bool text) : text_(text) {}

    // Cut anew where the constraints of a sample begin and end, with room for `members`, all bits clear.
    void cut(const std::vector<Constraint>& sample, std::size_t members);

    void set(std::size_t member, const Constraint& constraint);

    // The bits of the members that may match `value`, 64 a word.
    const std::uint64_t* row(const Value& value) const { return words_.data() + cell(value) * stride_; }

    std::size_t bytes() const;

private:
    std::size_t cell(const Value& value) const;
    std::size_t cell_of(std::int64_t number) const;
    std::size_t cell_of(std::string_view text) const;
    std::size_t missing() const { return (text_ ? texts_.size() : numbers_.size()) + 1; }
    template <class Visit>
    void visit(const Constraint& constraint, Visit visit) const;

    bool text_;
    std::vector<std::int64_t> numbers_;  // the first value of each cell but the first
    std::vector<std::string> texts_;
    std::size_t stride_ = 0;
    std::vector<std::uint64_t> words_;
};

}  // namespace roamcast::match
