// The medium: signals start, overlap and end at everyone in carrier-sense range.
//
// A transmission reaches its receivers one after the other, nearest first. Instead of an entry of the
// agenda for each of them it has one for the first; from there a sweep goes on from receiver to receiver
// as long as nothing else is due before the next.
#include <algorithm>

#include "world/world.h"

namespace roamcast {

void World::transmit(NodeId node, const Frame& frame) {
    std::uint32_t id;
    if (free_flights_.empty()) {
        id = static_cast<std::uint32_t>(flights_.size());
        flights_.push_back(std::make_unique<Flight>());
    } else {
        id = free_flights_.back();
        free_flights_.pop_back();
    }
    Flight& flight = *flights_[id];
    flight.frame = frame;
    flight.start = now_;
    flight.heard_by.clear();
    flight.arrived = flight.ended = flight.risen = 0;
    surroundings_.receivers(node, now_, flight.receivers);

    ++counters_.frames[static_cast<std::size_t>(frame.type)];
    Ear& ear = ears_[node];
    ear.sending = now_ + frame.airtime;
    ear.deaf = true;  // whatever is being heard is lost

    if (frame.type == FrameType::Data) hold(frame.parcel.message);
    if (flight.receivers.empty()) {
        land_if_done(id);
        return;
    }
    const Time first = now_ + flight.receivers.front().delay;
    agenda_.enter(first, Happening::SignalsArrive, id);
    agenda_.enter(first + frame.airtime, Happening::SignalsEnd, id);
}

void World::advance_sweep() {
    const Sweep sweep = sweeps_.first();
    const Time others = sweeps_.second();
    Flight& flight = *flights_[sweep.flight];
    std::size_t& place = sweep.ends ? flight.ended : flight.arrived;
    const Time start = flight.start + (sweep.ends ? flight.frame.airtime : 0);
    const std::size_t size = flight.receivers.size();
    ending_ = sweep.ends ? &flight : nullptr;
    now_ = sweep.next;
    for (;;) {
        if (sweep.ends) {
            signal_ends(sweep.flight, flight, place);
        } else {
            signal_arrives(sweep.flight, flight, flight.receivers[place]);
        }
        if (++place == size) break;
        const Time next = start + flight.receivers[place].delay;
        if (next >= others || next >= agenda_.next_time()) {
            ending_ = nullptr;
            sweeps_.put_off_first(next);
            return;
        }
        now_ = next;
    }
    ending_ = nullptr;
    sweeps_.finish_first();
    if (sweep.ends) all_ended(sweep.flight);
}

void World::all_ended(std::uint32_t id) {
    Flight& flight = *flights_[id];
    await_contest(id);
    if (flight.heard_by.empty()) {
        land_if_done(id);
    } else {
        const Reception& first = flight.receivers[flight.heard_by.front()];
        const Time rise = flight.start + first.delay + flight.frame.airtime + mac_.link_delay;
        agenda_.enter(std::max(now_, rise), Happening::FramesRise, id);
    }
}

void World::await_contest(std::uint32_t id) {
    Flight& flight = *flights_[id];
    if (flight.contenders.empty()) return;
    Time first = never;
    for (const Contender& contender : flight.contenders) first = std::min(first, contender.due);
    agenda_.enter(first, Happening::ContestOver, id);
}

void World::contest_over(std::uint32_t id) {
    Flight& flight = *flights_[id];
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
        Flight& flight = *flights_[id];
        const Reception reception = flight.receivers[flight.heard_by[flight.risen]];
        const NodeId to = flight.frame.to;
        if (to == everyone || to == reception.node) {
            owner_.receive(reception.node, flight.frame.parcel, flight.frame.from, reception.power);
        } else {
            owner_.overhear(reception.node, flight.frame.parcel, flight.frame.from, reception.power);
        }
        if (++flight.risen == flight.heard_by.size()) break;
        const Reception& following = flight.receivers[flight.heard_by[flight.risen]];
        const Time next = std::max(now_, flight.start + following.delay + flight.frame.airtime + mac_.link_delay);
        if (agenda_.next_time() <= next) {
            agenda_.enter(next, Happening::FramesRise, id);
            return;
        }
        now_ = next;
    }
    land_if_done(id);
}

void World::land_if_done(std::uint32_t id) {
    const Flight& flight = *flights_[id];
    const bool done = flight.ended == flight.receivers.size() && flight.risen == flight.heard_by.size();
    if (!done || !flight.contenders.empty()) return;
    const Frame& frame = flight.frame;
    if (frame.type == FrameType::Data) let_go(frame.parcel.message);
    free_flights_.push_back(id);
}

void World::signal_arrives(std::uint32_t id, const Flight& flight, const Reception& reception) {
    Ear& ear = ears_[reception.node];
    const Time ends = now_ + flight.frame.airtime;
    const bool deaf = ear.sending > now_;
    if (ear.hearing == UINT32_MAX) {
        ear.hearing = id;
        ear.power = reception.power;
        ear.ends = ends;
        ear.collided = false;
        ear.deaf = deaf;
        if (ear.waiting) heed_medium(reception.node);
        return;
    }
    const double heard = ear.power < 0 ? -ear.power : ear.power;
    const double came = reception.power < 0 ? -reception.power : reception.power;
    if (heard >= came * radio_.capture()) {
        settle(flight, reception, deaf ? Fate::Deaf : Fate::Captured);
        reserve(reception.node, ends + eifs_);
        return;
    }
    ear.collided = true;
    if (ends > ear.ends) {
        // The newcomer lasts longer: it is what keeps the receiver occupied from now on.
        const Flight& old = *flights_[ear.hearing];
        settle(old, Reception{reception.node, 0, ear.power}, ear.deaf ? Fate::Deaf : Fate::Collided);
        ear.hearing = id;
        ear.power = reception.power;
        ear.ends = ends;
        ear.deaf = deaf;
    } else {
        settle(flight, reception, deaf ? Fate::Deaf : Fate::Collided);
    }
}

void World::signal_ends(std::uint32_t id, Flight& flight, std::size_t index) {
    const Reception& reception = flight.receivers[index];
    Ear& ear = ears_[reception.node];
    if (ear.hearing != id) return;  // lost and settled before
    if (ear.sending > now_ || ear.deaf) {
        settle(flight, reception, Fate::Deaf);
        if (ear.sending <= now_) reserve(reception.node, now_ + eifs_);
    } else if (ear.collided || reception.power < 0) {
        settle(flight, reception, Fate::Collided);
        reserve(reception.node, now_ + eifs_);
    } else {
        settle(flight, reception, Fate::Received);
        frame_heard(reception.node, flight, index);
    }
    ear.hearing = UINT32_MAX;
    if (ear.waiting) heed_medium(reception.node);
}

void World::settle(const Flight& flight, const Reception& reception, Fate fate) {
    ++counters_.sensed;
    if (reception.power < 0) fate = Fate::Weak;
    ++counters_.fate[static_cast<std::size_t>(fate)];
    const bool concerned = flight.frame.to == everyone || flight.frame.to == reception.node;
    if (record_losses_ && fate != Fate::Received && fate != Fate::Weak && concerned &&
        flight.frame.type == FrameType::Data && flight.frame.parcel.about >= 0 &&
        owner_.misses(reception.node, flight.frame.parcel)) {
        records_.lost.push_back({now_, flight.frame.parcel.about, reception.node, flight.frame.from,
                                 flight.frame.parcel.kind, flight.frame.parcel.category,
                                 static_cast<std::uint8_t>(fate)});
    }
}

}  // namespace roamcast
