// Reception by signal-to-interference-and-noise ratio, in place of the rules of capture (medium.cpp).
//
// A receiver that neither sends nor receives locks on a frame whose ratio is at least the preamble threshold when it
// begins, and keeps it to its end: a later frame is interference, however strong. The medium is busy for a station
// while any signal is sensed there. Its ear (`Receiver`) has the signal that ends last; the frame being received may be
// another one.
#include <cmath>

#include "world/world.h"

namespace roamcast {

void World::signal_arrives_sinr(std::uint32_t id, FrameOnAir& flight, std::size_t index) {
    const Reception& reception = flight.receivers[index];
    Receiver& ear = ears_[reception.node];
    SinrReceiver& receiver = sinr_->receivers[reception.node];
    const Time ends = now_ + flight.frame.airtime;
    const double power = std::abs(reception.power);
    receiver.advance(now_, sinr_->noise);
    bool locks = false;
    if (reception.power > 0) {
        if (ear.sending > now_) {
            settle(flight, reception, ReceptionOutcome::Deaf);
        } else if (receiver.locked != SinrReceiver::nothing) {
            settle(flight, reception, ReceptionOutcome::Captured);
        } else if (power < sinr_->preamble * (sinr_->noise + receiver.interference())) {
            settle(flight, reception, ReceptionOutcome::Collided);
        } else {
            locks = true;
        }
    }
    if (locks) {
        const bool unicast = flight.frame.type == FrameType::Data && flight.frame.to != everyone;
        const Time preamble = unicast ? mac_.ofdm->unicast.preamble : mac_.ofdm->basic.preamble;
        receiver.lock(id, power, now_ + preamble, unicast ? sinr_->unicast : sinr_->basic);
        ear.deaf = false;
    } else {
        receiver.interfere(ends, power);
    }
    const bool idle = ear.ends <= now_;
    if (!idle && ends <= ear.ends) return;
    if (idle && ear.waiting) stop_counting(reception.node);
    if (idle && ear.hearing != Receiver::silence && ear.sending <= ear.ends) reserve(reception.node, ear.ends + eifs_);
    ear.hearing = id;
    ear.power = locks ? power : -power;
    ear.ends = ends;
    if (ear.waiting && index >= flight.near) flight.waiters[flight.waiting++] = static_cast<std::uint32_t>(index);
}

void World::signal_ends_sinr(std::uint32_t id, FrameOnAir& flight, std::size_t index) {
    const Reception& reception = flight.receivers[index];
    Receiver& ear = ears_[reception.node];
    SinrReceiver& receiver = sinr_->receivers[reception.node];
    if (receiver.locked == id) {
        receiver.advance(now_, sinr_->noise);
        receiver.locked = SinrReceiver::nothing;
        const ReceptionOutcome outcome = judge(flight, reception.node, receiver);
        settle(flight, reception, outcome);
        if (outcome == ReceptionOutcome::Received) {
            frame_heard(reception.node, flight, index);
        } else if (ear.sending <= now_) {
            reserve(reception.node, now_ + eifs_);
        }
        if (ear.hearing == id) ear.hearing = Receiver::silence;
    } else if (ear.hearing == id) {
        ear.hear_out(eifs_);
    } else {
        return;
    }
    if (ear.waiting) heed_medium(reception.node);
}

ReceptionOutcome World::judge(const FrameOnAir& flight, NodeId node, const SinrReceiver& receiver) {
    const Receiver& ear = ears_[node];
    if (ear.sending > now_ || ear.deaf) return ReceptionOutcome::Deaf;
    if (flight.cut) return ReceptionOutcome::Off;
    constexpr double negligible = 1e-12;
    const double expected = receiver.expected_errors();
    if (expected < negligible) return ReceptionOutcome::Received;
    const std::uint64_t purpose = seed_ ^ static_cast<std::uint64_t>(Purpose::BitErrors);
    const std::uint64_t frame = mix(mobility_.number(flight.frame.from), static_cast<std::uint64_t>(flight.start), 0);
    if (uniform(mix(purpose, frame, mobility_.number(node))) < std::exp(-expected)) return ReceptionOutcome::Received;
    return receiver.interfered() ? ReceptionOutcome::Collided : ReceptionOutcome::BitErrors;
}

}  // namespace roamcast
