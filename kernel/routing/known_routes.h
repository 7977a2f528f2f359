// Sequence number and metric of every route of a distance-vector table, to find the entries of an update that change one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace roamcast {

class KnownRoutes {
public:
    using Node = std::uint32_t;
    using Sequence = std::uint32_t;
    using Metric = std::uint32_t;

    explicit KnownRoutes(Metric infinity) : infinity_(infinity) {}

    std::size_t size() const { return size_; }

    void set(Node destination, Sequence sequence, Metric metric) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        Slot& slot = slots_[find(destination)];
        if (!slot.used) ++size_;
        slot = {destination, sequence, metric, true};
    }

    void discard(Node destination) {
        if (slots_.empty()) return;
        std::size_t slot = find(destination);
        if (!slots_[slot].used) return;
        --size_;
        // Move back the entries that would not be found past an empty slot.
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t next = after(slot); slots_[next].used; next = after(next)) {
            const std::size_t from_home = (next - home(slots_[next].destination)) & mask;
            if (from_home >= ((next - slot) & mask)) {
                slots_[slot] = slots_[next];
                slot = next;
            }
        }
        slots_[slot].used = false;
    }

    // Whether an entry may change the table or calls for an answer: its destination or sequence number is new, its route is
    // shorter by the same number, or it reports a working route as broken.
    bool is_news(Node destination, Metric metric, Sequence sequence) const {
        if (slots_.empty()) return true;
        const Slot& known = slots_[find(destination)];
        if (!known.used) return true;
        if (sequence == known.sequence) return metric + 1 < known.metric;
        const bool older = sequence - known.sequence >= half;
        return older ? metric >= infinity_ && known.metric < infinity_ : true;
    }

private:
    struct Slot {
        Node destination;
        Sequence sequence;
        Metric metric;
        bool used;
    };
    static constexpr Sequence half = 1U << 31;

    std::size_t home(Node destination) const { return (destination * 0x9E3779B97F4A7C15ULL) >> shift_; }
    std::size_t after(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }

    std::size_t find(Node destination) const {
        std::size_t slot = home(destination);
        while (slots_[slot].used && slots_[slot].destination != destination) slot = after(slot);
        return slot;
    }

    void grow() {
        const std::vector<Slot> old = std::move(slots_);
        shift_ = old.empty() ? 64 - 3 : shift_ - 1;
        slots_.assign(old.empty() ? 8 : 2 * old.size(), Slot{});
        for (const Slot& slot : old) {
            if (slot.used) slots_[find(slot.destination)] = slot;
        }
    }

    Metric infinity_;
    std::size_t size_ = 0;
    int shift_ = 0;
    std::vector<Slot> slots_;  // at most half of them used
};

}  // namespace roamcast
