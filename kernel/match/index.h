// One event against many filters of its type.
//
// Conjunctions that constrain the same fields share a partition. There, each field's values are cut into cells and each cell
// has a row of bits, one a conjunction; the rows of the event's cells, and-ed, leave few candidates, which are then
// verified. The work per event is a few bits per filter, whatever the filters say.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "match/partition.h"

namespace roamcast::match {

class Index {
public:
    // `text` says for each field whether it is text.
    explicit Index(std::vector<bool> text) : text_(std::move(text)), known_(text_.size()) {}
    // Partitions point at its dictionary.
    Index(const Index&) = delete;
    Index& operator=(const Index&) = delete;

    // A filter is a number of the caller's choice, small and not in use.
    void add(std::uint32_t filter, const std::vector<Conjunction>& conjunctions);

    // Whether a filter that is there is written as these.
    bool same(std::uint32_t filter, const std::vector<Conjunction>& conjunctions) const;

    // False if no such filter was there.
    bool remove(std::uint32_t filter);

    // The filters that match, each once, in an order that depends only on what was added and removed.
    const std::vector<std::uint32_t>& match(const std::vector<Value>& event);

    std::size_t fields() const { return text_.size(); }
    bool text(std::size_t field) const { return text_[field]; }
    std::size_t bytes() const;

private:
    struct Location {
        std::uint32_t partition;
        std::uint32_t place;
    };
    static constexpr std::uint32_t nowhere = UINT32_MAX;
    static constexpr std::uint32_t several = UINT32_MAX - 1;  // place is a key of `families_`
    static constexpr std::uint32_t matches_nothing = UINT32_MAX - 2;

    void settle(std::uint32_t partition);
    void drop(std::uint32_t partition);

    std::vector<bool> text_;
    Dictionary dictionary_;
    std::map<std::vector<std::uint32_t>, std::uint32_t> by_fields_;
    std::vector<std::unique_ptr<Partition>> partitions_;  // null where the last member has left
    std::vector<std::uint32_t> free_;                      // the places of these
    std::vector<Location> homes_;                            // by filter
    std::map<std::uint32_t, std::vector<Location>> families_;  // filters of several conjunctions
    std::vector<std::uint32_t> seen_;                    // by filter, the event that last found it; for families
    std::uint32_t turn_ = 0;
    std::vector<std::uint32_t> found_;
    std::vector<std::int64_t> known_;
};

}  // namespace roamcast::match
