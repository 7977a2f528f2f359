// The conjunctions that constrain the same fields: members, matched together by bits and then one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "match/column.h"
#include "match/dictionary.h"
#include "match/value.h"

namespace roamcast::match {

// Below this many members a plain walk is quicker than bits, and smaller.
constexpr std::size_t few = 64;

class Partition {
public:
    Partition(std::vector<std::uint32_t> fields, const std::vector<bool>& text, Dictionary& dictionary);

    // Returns the member's place.
    std::uint32_t add(std::uint32_t owner, const Conjunction& conjunction);

    void remove(std::uint32_t place);

    // Whether a member is written as this.
    bool same(std::uint32_t place, const Conjunction& conjunction) const;

    // Calls `found(owner)` for each member that matches. `known` holds for each field the number of its text.
    template <class Found>
    void match(const std::vector<Value>& event, const std::vector<std::int64_t>& known, Found found) const;

    // Whether it should be built anew, before the next member is added if need be; members then change their places.
    bool sparse() const {
        if (!built_ || owners_.size() < 2 * few) return false;
        return living_ * 4 < owners_.size() || (owners_.size() >= room_ && free_.size() * 4 >= owners_.size());
    }

    // Build anew without dead members; calls `moved(owner, old place, new place)`.
    template <class Moved>
    void compact(Moved moved);

    // Give back the words of the dead, before it goes itself.
    void forget_all();

    std::size_t living() const { return living_; }
    const std::vector<std::uint32_t>& fields() const { return fields_; }
    std::size_t bytes() const;

private:
    // A constraint in 16 bytes: a span; or a word's number; or the place of a larger one in `large_`.
    struct Slot {
        std::int64_t low;
        std::int64_t high;
    };
    enum : std::uint8_t { span = 0, word = 1, large = 2, absent = 4 };

    bool verify(std::size_t place, const std::vector<Value>& event, const std::vector<std::int64_t>& known) const;
    Constraint restore(std::size_t place, std::size_t column) const;
    void store(std::size_t place, const Conjunction& conjunction);
    void forget(std::size_t place);
    void build(std::size_t members);

    std::vector<std::uint32_t> fields_;
    std::vector<Column> columns_;
    Dictionary* dictionary_;
    bool built_ = false;
    std::size_t room_ = 0;  // members that the columns have bits for
    std::size_t living_ = 0;
    std::vector<std::uint64_t> alive_;
    std::vector<std::uint32_t> owners_;
    std::vector<Slot> slots_;           // place * fields + column
    std::vector<std::uint8_t> flags_;   // the same
    std::vector<std::uint32_t> free_;   // dead places, whose slots still stand
    std::vector<std::unique_ptr<Constraint>> large_;
    std::vector<std::uint32_t> free_large_;
};

template <class Found>
void Partition::match(const std::vector<Value>& event, const std::vector<std::int64_t>& known, Found found) const {
    constexpr std::size_t block = 32;
    if (!built_) {
        for (std::size_t place = 0; place < owners_.size(); ++place) {
            if ((alive_[place / 64] >> (place % 64) & 1) && verify(place, event, known)) found(owners_[place]);
        }
        return;
    }
    constexpr std::size_t most_rows = 16;  // further fields are left to `verify`
    const std::uint64_t* rows[most_rows];
    const std::size_t used = columns_.size() < most_rows ? columns_.size() : most_rows;
    for (std::size_t column = 0; column < used; ++column) rows[column] = columns_[column].row(event[fields_[column]]);
    const std::size_t words = (owners_.size() + 63) / 64;
    for (std::size_t start = 0; start < words; start += block) {
        const std::size_t count = words - start < block ? words - start : block;
        std::uint64_t bits[block];
        for (std::size_t n = 0; n < count; ++n) bits[n] = alive_[start + n];
        for (std::size_t column = 0; column < used; ++column) {
            const std::uint64_t* row = rows[column] + start;
            for (std::size_t n = 0; n < count; ++n) bits[n] &= row[n];
        }
        // Candidates lie far apart: all of a block are fetched at once, and not each when it is its turn.
        std::uint32_t places[block * 64];
        std::size_t candidates = 0;
        for (std::size_t n = 0; n < count; ++n) {
            for (std::uint64_t left = bits[n]; left; left &= left - 1) {
                const std::size_t place = (start + n) * 64 + static_cast<std::size_t>(std::countr_zero(left));
                __builtin_prefetch(slots_.data() + place * fields_.size());
                __builtin_prefetch(flags_.data() + place * fields_.size());
                __builtin_prefetch(owners_.data() + place);
                places[candidates++] = static_cast<std::uint32_t>(place);
            }
        }
        for (std::size_t n = 0; n < candidates; ++n) {
            if (verify(places[n], event, known)) found(owners_[places[n]]);
        }
    }
}

template <class Moved>
void Partition::compact(Moved moved) {
    const std::size_t width = fields_.size();
    for (const std::uint32_t dead : free_) forget(dead);
    free_.clear();
    std::size_t next = 0;
    for (std::size_t place = 0; place < owners_.size(); ++place) {
        if (!(alive_[place / 64] >> (place % 64) & 1)) continue;
        if (place != next) {
            moved(owners_[place], static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(next));
            owners_[next] = owners_[place];
            for (std::size_t column = 0; column < width; ++column) {
                slots_[next * width + column] = slots_[place * width + column];
                flags_[next * width + column] = flags_[place * width + column];
            }
        }
        ++next;
    }
    owners_.resize(next);
    owners_.shrink_to_fit();
    slots_.resize(next * width);
    slots_.shrink_to_fit();
    flags_.resize(next * width);
    flags_.shrink_to_fit();
    alive_.assign((next + 63) / 64, 0);
    for (std::size_t place = 0; place < next; ++place) alive_[place / 64] |= std::uint64_t{1} << (place % 64);
    build(next * 2);
}

}  // namespace roamcast::match
