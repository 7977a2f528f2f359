// Entries by a hash of their content: finds the one that is the same as something new.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "match/value.h"

namespace roamcast::match {

// Equal for equal conjunctions; nothing that is found or its order depends on it.
std::uint32_t hash_of(const std::vector<Conjunction>& conjunctions);

// Open addressing, each entry as near after its place as it can be.
class HashIndex {
public:
    static constexpr std::uint32_t none = UINT32_MAX;

    // The entry of this hash of which `same(entry)` holds, or none.
    template <class Same>
    std::uint32_t find(std::uint32_t hash, Same same) const {
        if (slots_.empty()) return none;
        for (std::size_t at = hash & mask(); slots_[at].entry != none; at = (at + 1) & mask()) {
            if (slots_[at].hash == hash && same(slots_[at].entry)) return slots_[at].entry;
        }
        return none;
    }

    void insert(std::uint32_t hash, std::uint32_t entry) {
        if (4 * (count_ + 1) > 3 * slots_.size()) grow();
        place({hash, entry});
        ++count_;
    }

    // The entry must be there.
    void erase(std::uint32_t hash, std::uint32_t entry) {
        std::size_t hole = hash & mask();
        while (slots_[hole].entry != entry) hole = (hole + 1) & mask();
        // Whoever stands further on and may stand here moves up, so that no search ends too early.
        for (std::size_t at = (hole + 1) & mask(); slots_[at].entry != none; at = (at + 1) & mask()) {
            const std::size_t wanted = slots_[at].hash & mask();
            if (((at - wanted) & mask()) < ((at - hole) & mask())) continue;
            slots_[hole] = slots_[at];
            hole = at;
        }
        slots_[hole].entry = none;
        --count_;
    }

    std::size_t bytes() const { return slots_.capacity() * sizeof(Slot); }

private:
    struct Slot {
        std::uint32_t hash;
        std::uint32_t entry;
    };

    std::size_t mask() const { return slots_.size() - 1; }

    void place(Slot slot) {
        std::size_t at = slot.hash & mask();
        while (slots_[at].entry != none) at = (at + 1) & mask();
        slots_[at] = slot;
    }

    void grow() {
        const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 16 : 2 * slots_.size(), {0, none}));
        for (const Slot& slot : before) {
            if (slot.entry != none) place(slot);
        }
    }

    std::vector<Slot> slots_;
    std::size_t count_ = 0;
};

}  // namespace roamcast::match
