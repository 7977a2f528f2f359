// The event queue: events to come in order of time, ties in order of entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "world/clock.h"

namespace roamcast {

// The kind of a queued event; its `subject` is a node, a transmission or a slot.
enum class EventKind : std::uint32_t {
    SignalsEnd,      // of a transmission, at its first receiver
    FramesRise,      // of a transmission, from the link to the routers of its next receivers
    MessageDown,     // a router's message reaches its link
    BackoffOver,     // of a station
    ContestOver,     // of a transmission: the first of those whose backoff its end set going is done
    ResponseWindow,  // of a station: own frame sent, or its answer overdue
    SifsOver,        // of a station that answers
    Timer,           // of a router
    AlohaDue,        // of a station: a message may be sent, if the medium is not sensed
};

struct QueuedEvent {
    Time time;
    std::uint64_t order;
    EventKind what;
    std::uint32_t subject;

    // Without a branch, because no processor could guess which way it goes.
    bool before(const QueuedEvent& other) const {
        return (time < other.time) | ((time == other.time) & (order < other.order));
    }
};

// A 4-ary heap: shallower than a binary one, and its four children share a cache line or two.
// Entries are not removed when cancelled; the code that enters one remembers its order and ignores stale ones.
class EventQueue {
public:
    // The order among events at the same time, for an event that is kept elsewhere.
    std::uint64_t next_order() { return ++orders_; }

    std::uint64_t enter(Time time, EventKind what, std::uint32_t subject) {
        const QueuedEvent entry{time, next_order(), what, subject};
        std::size_t hole = heap_.size();
        heap_.push_back(entry);
        while (hole > 0) {
            const std::size_t parent = (hole - 1) / 4;
            if (!entry.before(heap_[parent])) break;
            heap_[hole] = heap_[parent];
            hole = parent;
        }
        heap_[hole] = entry;
        return entry.order;
    }

    bool empty() const { return heap_.empty(); }
    Time next_time() const { return heap_.empty() ? never : heap_.front().time; }

    QueuedEvent take() {
        const QueuedEvent first = heap_.front();
        const QueuedEvent last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sink(last);
        return first;
    }

private:
    void sink(const QueuedEvent& entry) {
        const std::size_t size = heap_.size();
        std::size_t hole = 0;
        for (;;) {
            const std::size_t child = hole * 4 + 1;
            if (child >= size) break;
            std::size_t least = child;
            const std::size_t end = child + 4 < size ? child + 4 : size;
            for (std::size_t other = child + 1; other < end; ++other) {
                least = heap_[other].before(heap_[least]) ? other : least;
            }
            if (!heap_[least].before(entry)) break;
            heap_[hole] = heap_[least];
            hole = least;
        }
        heap_[hole] = entry;
    }

    std::vector<QueuedEvent> heap_;
    std::uint64_t orders_ = 0;
};

}  // namespace roamcast
