// Sweeps under way: transmissions whose signal is passing over its receivers at this moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "world/clock.h"

namespace roamcast {

struct Sweep {
    Time next;  // when it comes to its next receiver
    std::uint64_t order;
    std::uint32_t flight;
    bool ends;  // the signal ends there, or begins

    bool before(const Sweep& other) const {
        return next != other.next ? next < other.next : order < other.order;
    }
};

// A binary heap. It lives apart from the event queue because it is tiny and hot: stations that counted the same
// slots send at the same moment, and their signals then reach receivers in turns, nanoseconds apart.
class Sweeps {
public:
    bool empty() const { return heap_.empty(); }
    const Sweep& first() const { return heap_.front(); }

    // When another sweep than the first will be due.
    Time second() const {
        if (heap_.size() < 2) return never;
        return heap_.size() > 2 && heap_[2].next < heap_[1].next ? heap_[2].next : heap_[1].next;
    }

    void begin(const Sweep& sweep) {
        heap_.push_back(sweep);
        rise(heap_.size() - 1, sweep);
    }

    void put_off_first(Time next) {
        Sweep sweep = heap_.front();
        sweep.next = next;
        sink(sweep);
    }

    // Have the end of a flight, if it is being swept, come to a receiver that it would have passed over.
    void hasten_end(std::uint32_t flight, Time next) {
        for (std::size_t place = 0; place < heap_.size(); ++place) {
            Sweep sweep = heap_[place];
            if (sweep.flight != flight || !sweep.ends || sweep.next <= next) continue;
            sweep.next = next;
            rise(place, sweep);
            return;
        }
    }

    void finish_first() {
        const Sweep last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sink(last);
    }

private:
    void rise(std::size_t hole, const Sweep& sweep) {
        while (hole > 0 && sweep.before(heap_[(hole - 1) / 2])) {
            heap_[hole] = heap_[(hole - 1) / 2];
            hole = (hole - 1) / 2;
        }
        heap_[hole] = sweep;
    }

    void sink(const Sweep& sweep) {
        const std::size_t size = heap_.size();
        std::size_t hole = 0;
        for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
            if (child + 1 < size && heap_[child + 1].before(heap_[child])) ++child;
            if (!heap_[child].before(sweep)) break;
            heap_[hole] = heap_[child];
            hole = child;
        }
        heap_[hole] = sweep;
    }

    std::vector<Sweep> heap_;
};

}  // namespace roamcast
