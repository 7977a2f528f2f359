// Numbers that one router has seen recently: the same answers as a `Seen` in a few kilobytes of its own, for sets that no
// simulator reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace roamcast {

class Recent {
public:
    explicit Recent(std::size_t limit) : limit_(std::min<std::size_t>(limit, none)) {}

    std::size_t size() const { return order_.size(); }
    bool contains(std::uint64_t number) const { return !slots_.empty() && slots_[find(number)] != none; }

    // Whether the number is new; then the oldest is removed if the set is full.
    bool add(std::uint64_t number) {
        if (limit_ == 0) return true;
        if (2 * std::min(order_.size() + 1, limit_) > slots_.size()) grow();
        const std::size_t slot = find(number);
        if (slots_[slot] != none) return false;
        if (order_.size() < limit_) {
            slots_[slot] = static_cast<Place>(order_.size());
            order_.push_back(number);
            return true;
        }
        remove(find(order_[oldest_]));
        slots_[find(number)] = static_cast<Place>(oldest_);
        order_[oldest_] = number;
        oldest_ = (oldest_ + 1) % limit_;
        return true;
    }

private:
    using Place = std::uint32_t;  // in `order_`
    static constexpr Place none = std::numeric_limits<Place>::max();

    std::size_t home(std::uint64_t number) const { return (number * 0x9E3779B97F4A7C15ULL) >> shift_; }
    std::size_t after(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

    // Where the number is, or would be.
    std::size_t find(std::uint64_t number) const {
        std::size_t slot = home(number);
        while (slots_[slot] != none && order_[slots_[slot]] != number) slot = after(slot);
        return slot;
    }

    // Whoever would not be found past an empty slot moves into it.
    void remove(std::size_t slot) {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t next = after(slot); slots_[next] != none; next = after(next)) {
            const std::size_t from_home = (next - home(order_[slots_[next]])) & mask;
            if (from_home >= ((next - slot) & mask)) {
                slots_[slot] = slots_[next];
                slot = next;
            }
        }
        slots_[slot] = none;
    }

    void grow() {
        shift_ = slots_.empty() ? 64 - 4 : shift_ - 1;
        slots_.assign(slots_.empty() ? 16 : 2 * slots_.size(), none);
        for (std::size_t i = 0; i < order_.size(); ++i) slots_[find(order_[i])] = static_cast<Place>(i);
    }

    std::size_t limit_;
    std::size_t oldest_ = 0;  // in `order_`, once that is full
    int shift_ = 0;
    std::vector<std::uint64_t> order_;
    std::vector<Place> slots_;  // at most half of them taken
};

}  // namespace roamcast
