// Numbers that a router has come across: a bounded set that forgets the oldest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace roamcast {

// Open addressing with linear probing: asking touches one line of memory in nearly all cases. The order of
// entry is kept beside the table, for forgetting.
class Seen {
public:
    explicit Seen(std::size_t limit) : limit_(limit), table_(smallest) {}

    std::size_t size() const { return size_; }

    bool contains(std::uint64_t number) const { return table_[find(number)].taken; }

    // Whether the number is new; then the oldest makes room, if it must.
    bool add(std::uint64_t number) {
        std::size_t place = find(number);
        if (table_[place].taken) return false;
        if (limit_ == 0) return true;
        if (size_ == limit_) {
            erase(find(std::exchange(order_[oldest_], number)));
            oldest_ = (oldest_ + 1) % limit_;
            place = find(number);
        } else {
            order_.push_back(number);
            if (++size_ * 2 > table_.size()) {
                grow();
                place = find(number);
            }
        }
        table_[place] = {number, true};
        return true;
    }

private:
    static constexpr std::size_t smallest = 8;  // a power of two, as every size of the table

    struct Place {
        std::uint64_t number = 0;
        bool taken = false;
    };

    std::size_t home(std::uint64_t number) const {
        // The golden ratio spreads numbers that differ in few bits; the high half of the product is the best mixed.
        return static_cast<std::size_t>((number * 0x9e3779b97f4a7c15ULL) >> 32) & (table_.size() - 1);
    }

    // Where the number is, or the free place where it would be.
    std::size_t find(std::uint64_t number) const {
        std::size_t place = home(number);
        while (table_[place].taken && table_[place].number != number) place = (place + 1) & (table_.size() - 1);
        return place;
    }

    // Close the gap, so that no search ends at it before its time.
    void erase(std::size_t gap) {
        const std::size_t mask = table_.size() - 1;
        for (std::size_t next = (gap + 1) & mask; table_[next].taken; next = (next + 1) & mask) {
            if (((next - home(table_[next].number)) & mask) < ((next - gap) & mask)) continue;
            table_[gap] = table_[next];
            gap = next;
        }
        table_[gap].taken = false;
    }

    void grow() {
        std::vector<Place> old(table_.size() * 2);
        old.swap(table_);
        for (const Place& place : old) {
            if (place.taken) table_[find(place.number)] = place;
        }
    }

    std::size_t limit_;
    std::size_t size_ = 0;
    std::size_t oldest_ = 0;  // in `order_`, once that is full
    std::vector<Place> table_;
    std::vector<std::uint64_t> order_;
};

}  // namespace roamcast
