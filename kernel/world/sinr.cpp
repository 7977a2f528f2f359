// Reception by signal-to-interference-and-noise ratio, in place of the rules of capture (medium.cpp).
//
// A receiver that neither sends nor receives locks on a frame whose ratio is at least the preamble threshold when it
// begins, and keeps it to its end: a later frame is interference, however strong. The medium is busy for a station
// while any signal is sensed there. Its receiver (`Receiver`) has the signal that ends last; the frame being received may be
// another one.
#include <cmath>

#include "world/world.h"

namespace roamcast {

void World::signal_arrives_sinr(std::uint32_t id, FrameOnAir& flight, std::size_t index) {
    const Reception& reception = flight.receivers[index];
    Receiver& receiver = receivers_[reception.node];
    SinrReceiver& sinr = sinr_->receivers[reception.node];
    const Time ends = now_ + flight.frame.airtime;
    const double power = std::abs(reception.power);
    sinr.advance(now_, sinr_->noise);
    bool locks = false;
    if (reception.power > 0) {
        if (receiver.sending > now_) {
            record_outcome(flight, reception, ReceptionOutcome::Deaf);
        } else if (sinr.locked != SinrReceiver::nothing) {
            record_outcome(flight, reception, ReceptionOutcome::Captured);
        } else if (power < sinr_->preamble * (sinr_->noise + sinr.interference())) {
            record_outcome(flight, reception, ReceptionOutcome::Collided);
        } else {
            locks = true;
        }
    }
    if (locks) {
        const bool unicast = flight.frame.type == FrameType::Data && flight.frame.to != everyone;
        const Time preamble = unicast ? mac_.ofdm->unicast.preamble : mac_.ofdm->basic.preamble;
        sinr.lock(id, power, now_ + preamble, unicast ? sinr_->unicast : sinr_->basic);
        receiver.deaf = false;
    } else {
        sinr.interfere(ends, power);
    }
    const bool idle = receiver.ends <= now_;
    if (!idle && ends <= receiver.ends) return;
    if (idle && receiver.waiting) stop_counting(reception.node);
    if (idle && receiver.hearing != Receiver::silence && receiver.sending <= receiver.ends) reserve(reception.node, receiver.ends + eifs_);
    receiver.hearing = id;
    receiver.power = locks ? power : -power;
    receiver.ends = ends;
    if (receiver.waiting && index >= flight.near) flight.waiters[flight.waiting++] = static_cast<std::uint32_t>(index);
}

void World::signal_ends_sinr(std::uint32_t id, FrameOnAir& flight, std::size_t index) {
    const Reception& reception = flight.receivers[index];
    Receiver& receiver = receivers_[reception.node];
    SinrReceiver& sinr = sinr_->receivers[reception.node];
    if (sinr.locked == id) {
        sinr.advance(now_, sinr_->noise);
        sinr.locked = SinrReceiver::nothing;
        const ReceptionOutcome outcome = judge(flight, reception.node, sinr);
        record_outcome(flight, reception, outcome);
        if (outcome == ReceptionOutcome::Received) {
            frame_heard(reception.node, flight, index);
        } else if (receiver.sending <= now_) {
            reserve(reception.node, now_ + eifs_);
        }
        if (receiver.hearing == id) receiver.hearing = Receiver::silence;
    } else if (receiver.hearing == id) {
        receiver.hear_out(eifs_);
    } else {
        return;
    }
    if (receiver.waiting) follow_medium(reception.node);
}

ReceptionOutcome World::judge(const FrameOnAir& flight, NodeId node, const SinrReceiver& sinr) {
    const Receiver& receiver = receivers_[node];
    if (receiver.sending > now_ || receiver.deaf) return ReceptionOutcome::Deaf;
    if (flight.cut) return ReceptionOutcome::Off;
    constexpr double negligible = 1e-12;
    const double expected = sinr.expected_errors();
    if (expected < negligible) return ReceptionOutcome::Received;
    const std::uint64_t purpose = seed_ ^ static_cast<std::uint64_t>(Purpose::BitErrors);
    const std::uint64_t frame = mix(mobility_.number(flight.frame.from), static_cast<std::uint64_t>(flight.start), 0);
    if (uniform(mix(purpose, frame, mobility_.number(node))) < std::exp(-expected)) return ReceptionOutcome::Received;
    return sinr.interfered() ? ReceptionOutcome::Collided : ReceptionOutcome::BitErrors;
}

}  // namespace roamcast
