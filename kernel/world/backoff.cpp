// Carrier sense and backoff. As in ns-2 a backoff is always drawn (from 0 .. window-1 slots), also when the medium is idle.
#include <algorithm>

#include "world/world.h"

namespace roamcast {

void World::start_backoff(NodeId node) {
    Station& station = stations_[node];
    Backoff& backoff = backoffs_[node];
    backoff.active = true;
    backoff.paused = true;
    backoff.left = static_cast<Time>(station.random.below(station.window)) * mac_.slot;
    receivers_[node].waiting = true;
    follow_medium(node);
}

// Let the backoff follow the medium: count while it is idle, stop while it is busy.
void World::follow_medium(NodeId node) {
    const Backoff& backoff = backoffs_[node];
    if (!backoff.active) return;
    const bool hearing = hears(node);
    if (!hearing && receivers_[node].doing == DcfState::Nothing) {
        if (backoff.paused) count_on(node);
        return;
    }
    if (!backoff.paused) stop_counting(node);
    if (receivers_[node].hears_weak()) await_end(node);
}

// A NAV has a known end, so the count is set to begin after it; whatever comes before that stops it again with
// nothing counted.
void World::count_on(NodeId node) {
    Backoff& backoff = backoffs_[node];
    backoff.paused = false;
    backoff.counting_at = std::max(now_, receivers_[node].reserved) + mac_.difs;
    const Time due = backoff.counting_at + backoff.left;
    if (ending_ != nullptr) {
        // The top bit distinguishes these tickets from those of the event queue.
        backoff.ticket = ++tickets_ | 1ULL << 63;
        ending_->contenders.push_back({due, backoff.ticket, node});
    } else {
        backoff.ticket = events_.enter(due, EventKind::BackoffOver, node);
    }
}

// Slots that have passed of a count. Between stations at rest the time is often a whole number of slots to the last digit,
// and then ns-2, which divides floating-point seconds, finds one less four times in ten; this is its sum.
Time World::slots_counted(Time counting_at, Time counted) const {
    const Time slots = counted / mac_.slot;
    if (slots == 0 || slots * mac_.slot != counted) return slots;
    const double slot = to_seconds(mac_.slot);
    const double difs = to_seconds(mac_.difs);
    const double began = to_seconds(counting_at - mac_.difs);
    const double stopped = began + (static_cast<double>(slots) * slot + difs);
    return static_cast<Time>((stopped - (began + difs)) / slot);
}

void World::stop_counting(NodeId node) {
    Backoff& backoff = backoffs_[node];
    if (backoff.paused) return;
    const Time counted = std::max<Time>(0, now_ - backoff.counting_at);
    backoff.left = std::max<Time>(0, backoff.left - slots_counted(backoff.counting_at, counted) * mac_.slot);
    backoff.paused = true;
    backoff.ticket = 0;
}

// Carrier sense, physical and virtual.
bool World::busy(NodeId node) {
    const bool hearing = hears(node);
    const Receiver& receiver = receivers_[node];
    return hearing || receiver.doing != DcfState::Nothing || receiver.reserved > now_;
}

void World::reserve(NodeId node, Time until) {
    Receiver& receiver = receivers_[node];
    receiver.reserved = std::max(receiver.reserved, until);
}

}  // namespace roamcast
