// Content as the match index has it: ordered values are whole numbers, texts are UTF-8.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roamcast::match {

// Doubles in the order of their values, so that one kind of number is enough.
inline std::int64_t ordered(double value) {
    const auto bits = std::bit_cast<std::int64_t>(value == 0.0 ? 0.0 : value);
    return bits >= 0 ? bits : static_cast<std::int64_t>(static_cast<std::uint64_t>(INT64_MIN) - static_cast<std::uint64_t>(bits));
}

struct Value {
    enum class ValueType : std::uint8_t { missing, number, text };
    ValueType sort = ValueType::missing;
    std::int64_t number = 0;
    std::string_view text;
};

struct Span {
    std::int64_t low;
    std::int64_t high;  // included

    bool operator==(const Span&) const = default;
};

// A pattern as the pieces between its stars; one piece is the word itself.
using Glob = std::vector<std::string>;

bool fits(const Glob& glob, std::string_view text);

// One field's allowed values: spans of numbers, listed words, or patterns to match and not to match.
struct Constraint {
    std::uint32_t field = 0;
    bool absent = false;
    bool text = false;
    bool listed = false;  // of texts: `words` says all
    std::vector<Span> spans;
    std::vector<std::string> words;
    std::vector<Glob> like;
    std::vector<Glob> unlike;

    bool operator==(const Constraint&) const = default;
    bool allows(const Value& value) const;
    // Bytes that this object holds beyond its own size.
    std::size_t bytes() const;
};

using Conjunction = std::vector<Constraint>;  // by field, each once

}  // namespace roamcast::match
