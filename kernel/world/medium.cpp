// The medium: signals start, overlap and end at everyone in carrier-sense range.
//
// A transmission reaches its receivers one after the other, nearest first. Instead of an entry of the
// event queue for each of them it has a sweep, which goes on from receiver to receiver as long as nothing else is
// due before the next; and another when it ends.
//
// Most receivers are too far away to decode the frame, and most of these have nothing that waits for its end. The
// sweep of ends passes them over: `Receiver` has the time at which the signal ends, and is brought up to date when it is next read.
#include <algorithm>
#include <cmath>

#include "world/world.h"

namespace roamcast {

void World::transmit(NodeId node, const Frame& frame) {
    std::uint32_t id;
    if (free_flights_.empty()) {
        id = static_cast<std::uint32_t>(flights_.size());
        flights_.push_back(std::make_unique<FrameOnAir>());
    } else {
        id = free_flights_.back();
        free_flights_.pop_back();
    }
    FrameOnAir& flight = *flights_[id];
    flight.frame = frame;
    flight.start = now_;
    flight.masked = whole_micros(frame.airtime + eifs_);
    flight.heard_by.clear();
    flight.cut = false;
    flight.near = flight.decodable = flight.arrived = flight.ended = flight.risen = flight.waiting = flight.waited = 0;
    spatial_index_.receivers(node, now_, flight.receivers);
    if (flight.waiters.size() <= flight.receivers.size()) flight.waiters.resize(flight.receivers.size() + 1);
    for (std::size_t i = 0; i < flight.receivers.size() && flight.receivers[i].delay <= range_delay_; ++i) {
        if (flight.receivers[i].power < 0) continue;
        flight.near = i + 1;
        ++flight.decodable;
    }

    ++counters_.frames[static_cast<std::size_t>(frame.type)];
    hears(node);  // what it heard before ended before it began to speak
    Receiver& receiver = receivers_[node];
    receiver.sending = now_ + frame.airtime;
    receiver.deaf = true;  // whatever is being heard is lost

    if (frame.type == FrameType::Data) retain_packet(frame.packet);
    if (flight.receivers.empty()) {
        land_if_done(id);
        return;
    }
    const Time first = now_ + flight.receivers.front().delay;
    sweeps_.begin({first, events_.next_order(), id, false});
    events_.enter(first + frame.airtime, EventKind::SignalsEnd, id);
}

// Go on with the sweeps in turns, until `end` or until the event queue has something to do first.
template <bool sinr>
void World::advance_sweeps(Time end) {
    while (!sweeps_.empty() && sweeps_.first().next <= end && sweeps_.first().next < events_.next_time()) {
        const Sweep sweep = sweeps_.first();
        const Time others = sweeps_.second();
        FrameOnAir& flight = *flights_[sweep.flight];
        now_ = sweep.next;
        const Time next =
            sweep.ends ? sweep_ends<sinr>(sweep.flight, flight, others) : sweep_arrivals<sinr>(sweep.flight, flight, others);
        if (next != never) {
            sweeps_.put_off_first(next);
            continue;
        }
        sweeps_.finish_first();
        if (sweep.ends) all_ended(sweep.flight);
    }
}

// Go on as far as may be before something else is due; says when there is more to do.
template <bool sinr>
Time World::sweep_arrivals(std::uint32_t id, FrameOnAir& flight, Time others) {
    const Time limit = std::min(others, events_.next_time());  // an arrival makes no entries
    for (;;) {
        if constexpr (sinr) {
            signal_arrives_sinr(id, flight, flight.arrived);
        } else {
            signal_arrives(id, flight, flight.arrived);
        }
        if (++flight.arrived == flight.receivers.size()) return never;
        const Time next = flight.start + flight.receivers[flight.arrived].delay;
        if (next >= limit) return next;
        now_ = next;
    }
}

template <bool sinr>
Time World::sweep_ends(std::uint32_t id, FrameOnAir& flight, Time others) {
    ending_ = &flight;
    Time next = never;
    for (std::size_t index = flight.next_end();;) {
        if constexpr (sinr) {
            signal_ends_sinr(id, flight, index);
        } else {
            signal_ends(id, flight, index);
        }
        flight.ended = index + 1;
        if (flight.ended == flight.receivers.size()) break;
        index = flight.next_end();
        next = flight.start + flight.frame.airtime + flight.receivers[index].delay;
        if (next >= others || next >= events_.next_time()) break;
        now_ = next;
        next = never;
    }
    ending_ = nullptr;
    return next;
}

// The receiver that the sweep of ends comes to next: all who are near, beyond them those who wait, and the last.
std::size_t World::FrameOnAir::next_end() {
    if (ended < near || ended == 0) return ended;
    while (waited < waiting && waiters[waited] < ended) ++waited;
    return waited < waiting ? waiters[waited] : receivers.size() - 1;
}

// Which receiver a node is that hears the signal's end at a moment; the number of receivers, if it is none.
std::size_t World::FrameOnAir::index_of(NodeId node, Time end) const {
    const Time delay = end - start - frame.airtime;
    auto found = std::lower_bound(receivers.begin(), receivers.end(), delay,
                                  [](const Reception& reception, Time limit) { return reception.delay < limit; });
    while (found != receivers.end() && found->delay == delay && found->node != node) ++found;
    if (found == receivers.end() || found->delay != delay) return receivers.size();
    return static_cast<std::size_t>(found - receivers.begin());
}

// Whether a node hears a signal, for callers that know nothing of frames on the air.
bool World::hears(NodeId node) {
    Receiver& receiver = receivers_[node];
    if (!receiver.hears_weak()) return receiver.hearing != Receiver::silence;
    if (receiver.ends > now_) return true;
    if (receiver.ends == now_) {  // the sweep has come there already, or not; if the flight has landed, it has
        const FrameOnAir& flight = *flights_[receiver.hearing];
        const std::size_t index = flight.index_of(node, receiver.ends);
        if (index < flight.receivers.size() && index >= flight.ended) return true;
    }
    receiver.hear_out(eifs_);
    return false;
}

// Have the sweep of ends come to a node that hears a signal too weak to decode.
void World::await_end(NodeId node) {
    const Receiver& receiver = receivers_[node];
    FrameOnAir& flight = *flights_[receiver.hearing];
    const auto index = static_cast<std::uint32_t>(flight.index_of(node, receiver.ends));
    const auto end = flight.waiters.begin() + static_cast<std::ptrdiff_t>(flight.waiting);
    const auto place = std::lower_bound(flight.waiters.begin(), end, index);
    if (place != end && *place == index) return;
    std::move_backward(place, end, end + 1);
    *place = index;
    ++flight.waiting;
    sweeps_.hasten_end(receiver.hearing, receiver.ends);
}

void World::all_ended(std::uint32_t id) {
    FrameOnAir& flight = *flights_[id];
    const std::size_t weak = flight.receivers.size() - flight.decodable;
    counters_.sensed += weak;
    counters_.outcome[static_cast<std::size_t>(ReceptionOutcome::Weak)] += weak;
    await_contest(id);
    if (flight.heard_by.empty()) {
        land_if_done(id);
    } else {
        const Reception& first = flight.receivers[flight.heard_by.front() & ~gone];
        const Time rise = flight.start + first.delay + flight.frame.airtime + mac_.link_delay;
        events_.enter(std::max(now_, rise), EventKind::FramesRise, id);
    }
}

void World::await_contest(std::uint32_t id) {
    FrameOnAir& flight = *flights_[id];
    if (flight.contenders.empty()) return;
    Time first = never;
    for (const Contender& contender : flight.contenders) first = std::min(first, contender.due);
    events_.enter(first, EventKind::ContestOver, id);
}

void World::contest_over(std::uint32_t id) {
    FrameOnAir& flight = *flights_[id];
    due_.clear();
    std::size_t kept = 0;
    for (const Contender& contender : flight.contenders) {
        if (backoffs_[contender.node].ticket != contender.ticket) continue;  // silenced
        if (contender.due <= now_) {
            due_.push_back(contender.node);
        } else {
            flight.contenders[kept++] = contender;
        }
    }
    flight.contenders.resize(kept);
    for (const NodeId node : due_) backoff_over(node);
    await_contest(id);
    land_if_done(id);
}

void World::sweep_rises(std::uint32_t id) {
    for (;;) {
        // The flight is looked up each time: a router may send, and so make more flights.
        FrameOnAir& flight = *flights_[id];
        const std::uint32_t index = flight.heard_by[flight.risen];
        const Reception reception = flight.receivers[index & ~gone];
        const NodeId to = flight.frame.to;
        if (index & gone) {
            // Its radio was switched off between the link and the router.
        } else if (to == everyone || to == reception.node) {
            owner_.receive(reception.node, flight.frame.packet, flight.frame.from, reception.power);
        } else {
            owner_.overhear(reception.node, flight.frame.packet, flight.frame.from, reception.power);
        }
        if (++flight.risen == flight.heard_by.size()) break;
        const Reception& following = flight.receivers[flight.heard_by[flight.risen] & ~gone];
        const Time next = std::max(now_, flight.start + following.delay + flight.frame.airtime + mac_.link_delay);
        if (events_.next_time() <= next) {
            events_.enter(next, EventKind::FramesRise, id);
            return;
        }
        now_ = next;
    }
    land_if_done(id);
}

void World::land_if_done(std::uint32_t id) {
    const FrameOnAir& flight = *flights_[id];
    const bool done = flight.ended == flight.receivers.size() && flight.risen == flight.heard_by.size();
    if (!done || !flight.contenders.empty()) return;
    const Frame& frame = flight.frame;
    if (frame.type == FrameType::Data) release_packet(frame.packet);
    free_flights_.push_back(id);
}

// The innermost loop of a busy world. Whether an receiver is idle, and what it heard before, follows no pattern that a
// processor could guess; so what can be chosen between two values is not branched on.
void World::signal_arrives(std::uint32_t id, FrameOnAir& flight, std::size_t index) {
    const Reception& reception = flight.receivers[index];
    Receiver& receiver = receivers_[reception.node];
    const Time ends = now_ + flight.frame.airtime;
    const bool deaf = receiver.sending > now_;
    const bool idle = receiver.ends <= now_;
    const double heard = idle ? 0.0 : std::abs(receiver.power);
    if (heard >= std::abs(reception.power) * radio_.capture()) {
        record_outcome(flight, reception, deaf ? ReceptionOutcome::Deaf : ReceptionOutcome::Captured);
        reserve(reception.node, now_ + flight.masked);
        return;
    }
    if (((ends <= receiver.ends) | (receiver.power >= 0)) & !idle) {
        receiver.collided = true;
        if (ends <= receiver.ends) {
            record_outcome(flight, reception, deaf ? ReceptionOutcome::Deaf : ReceptionOutcome::Collided);
            return;
        }
        record_outcome(*flights_[receiver.hearing], Reception{reception.node, 0, receiver.power}, receiver.deaf ? ReceptionOutcome::Deaf : ReceptionOutcome::Collided);
    }
    if (idle & receiver.waiting) stop_counting(reception.node);
    const Time left_by_weak = (idle & (receiver.hearing != Receiver::silence) & (receiver.sending <= receiver.ends)) ? receiver.ends + eifs_ : 0;
    receiver.reserved = std::max(receiver.reserved, left_by_weak);
    receiver.collided = !idle;
    // A newcomer that lasts longer is what keeps the receiver occupied from now on.
    receiver.hearing = id;
    receiver.power = reception.power;
    receiver.ends = ends;
    receiver.deaf = deaf;
    flight.waiters[flight.waiting] = static_cast<std::uint32_t>(index);
    flight.waiting += static_cast<std::size_t>(receiver.waiting & (index >= flight.near));
}

void World::signal_ends(std::uint32_t id, FrameOnAir& flight, std::size_t index) {
    const Reception& reception = flight.receivers[index];
    Receiver& receiver = receivers_[reception.node];
    if (receiver.hearing != id) return;  // lost and settled before
    if (reception.power < 0) {
        receiver.hear_out(eifs_);
    } else {
        if (receiver.sending > now_ || receiver.deaf) {
            record_outcome(flight, reception, ReceptionOutcome::Deaf);
            if (receiver.sending <= now_) reserve(reception.node, now_ + eifs_);
        } else if (receiver.collided) {
            record_outcome(flight, reception, ReceptionOutcome::Collided);
            reserve(reception.node, now_ + eifs_);
        } else if (flight.cut) {
            record_outcome(flight, reception, ReceptionOutcome::Off);
            reserve(reception.node, now_ + eifs_);
        } else {
            record_outcome(flight, reception, ReceptionOutcome::Received);
            frame_heard(reception.node, flight, index);
        }
        receiver.hearing = Receiver::silence;
    }
    if (receiver.waiting) follow_medium(reception.node);
}

// Weak signals are counted together when their frame has ended everywhere: nothing else can become of them.
void World::record_outcome(const FrameOnAir& flight, const Reception& reception, ReceptionOutcome outcome) {
    if (reception.power < 0) return;
    ++counters_.sensed;
    // A radio that is off is deaf like one that sends; it should not have heard, so its loss has no row.
    const bool off = outcome == ReceptionOutcome::Deaf && flight.start < on_since_[reception.node];
    ++counters_.outcome[static_cast<std::size_t>(off ? ReceptionOutcome::Off : outcome)];
    if (outcome != ReceptionOutcome::Received && !off) record_loss(flight, reception.node, outcome);
}

void World::record_loss(const FrameOnAir& flight, NodeId node, ReceptionOutcome outcome) {
    const Frame& frame = flight.frame;
    const bool concerned = frame.to == everyone || frame.to == node;
    if (record_losses_ && concerned && frame.type == FrameType::Data && frame.packet.about >= 0 &&
        owner_.misses(node, frame.packet)) {
        records_.lost.push_back({now_, frame.packet.about, node, frame.from, frame.packet.kind, frame.packet.category,
                                 static_cast<std::uint8_t>(outcome)});
    }
}

template void World::advance_sweeps<false>(Time end);
template void World::advance_sweeps<true>(Time end);

}  // namespace roamcast
