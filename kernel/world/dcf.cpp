// The distributed coordination function of 802.11, with the choices that ns-2 makes: a station backs off after each frame; a CTS
// The distributed coordination function of 802.11, with the choices that ns-2 makes: frames sent, and answers to frames. A
// station backs off after each frame; a CTS is sent only if the medium is idle, an ACK in any case.
#include <algorithm>
#include <cmath>

#include "world/frame_sizes.h"
#include "world/world.h"

namespace roamcast {

Time World::airtime(std::uint32_t bytes, double rate) const {
    if (mac_.lora) return mac_.lora->airtime(bytes);
    if (mac_.ofdm) return mac_.ofdm->airtime(bytes, rate);
    return plcp + static_cast<Time>(std::llround(static_cast<double>(bytes) * 8 * ticks_per_second / rate));
}

std::uint32_t World::frame_bytes(const Frame& data) const {
    return network_bytes(data.packet) + data_bytes + plcp_bytes;
}

bool World::announced(const Frame& data) const {
    return data.to != everyone && frame_bytes(data) >= mac_.rts_threshold;
}

// A frame of just the threshold's size is announced, but its attempts are counted as those of a short one: so does ns-2.
std::uint32_t& World::data_tries(Station& station) const {
    return frame_bytes(station.data) > mac_.rts_threshold ? station.long_tries : station.short_tries;
}

// Reservations are whole microseconds.
Time World::whole_micros(Time time) {
    constexpr Time micro = 1'000'000;
    return (time + micro / 2) / micro * micro;
}

void World::widen(Station& station) const {
    station.window = std::min(station.window * 2 + 1, mac_.cw_max);
}

void World::send_rts(NodeId node) {
    Station& station = stations_[node];
    if (station.data_first < 0) station.data_first = now_;
    station.data_airtime += rts_airtime_;
    receivers_[node].doing = DcfState::AwaitingCts;
    const Time reserved = whole_micros(3 * mac_.sifs + cts_airtime_ + station.data.airtime + ack_airtime_);
    const Time window = rts_airtime_ + longest_way + mac_.sifs + cts_airtime_ + longest_way;
    station.response_order = events_.enter(now_ + window, EventKind::ResponseWindow, node);
    transmit(node, Frame{FrameType::Rts, node, station.data.to, 0, rts_airtime_, reserved, {}});
}

void World::send_data(NodeId node) {
    Station& station = stations_[node];
    if (station.data_first < 0) station.data_first = now_;
    station.data_airtime += station.data.airtime;
    ++station.attempts;
    receivers_[node].doing = DcfState::AwaitingAck;
    Time window = station.data.airtime;
    if (station.data.to != everyone && !mac_.lora) window += longest_way + mac_.sifs + ack_airtime_ + longest_way;
    station.response_order = events_.enter(now_ + window, EventKind::ResponseWindow, node);
    transmit(node, station.data);
}

void World::send_answer(NodeId node) {
    Station& station = stations_[node];
    Receiver& receiver = receivers_[node];
    if (station.answer == PendingResponse::Cts) {
        if (busy(node)) {
            station.answer = PendingResponse::None;
            if (station.serving && !backoffs_[node].active) start_backoff(node);
            return;
        }
        receiver.doing = DcfState::AwaitingData;
        follow_medium(node);
        // Until the data should have come: what the CTS reserves, less the ACK at its end.
        const Time window = cts_airtime_ + station.answer_reserve - mac_.sifs - ack_airtime_ + 2 * longest_way;
        station.response_order = events_.enter(now_ + window, EventKind::ResponseWindow, node);
        transmit(node, Frame{FrameType::Cts, node, station.answer_to, 0, cts_airtime_, station.answer_reserve, {}});
    } else {
        receiver.doing = DcfState::SendingAck;
        follow_medium(node);
        station.response_order = events_.enter(now_ + ack_airtime_, EventKind::ResponseWindow, node);
        transmit(node, Frame{FrameType::Ack, node, station.answer_to, 0, ack_airtime_, 0, {}});
    }
}

void World::backoff_over(NodeId node) {
    Station& station = stations_[node];
    backoffs_[node].active = false;
    receivers_[node].waiting = false;
    if (station.answer != PendingResponse::None || !station.serving) return;
    if (station.rts_pending) {
        send_rts(node);
    } else {
        send_data(node);
    }
}

void World::response_window_over(NodeId node) {
    if (mac_.lora) return aloha_sent(node);
    Station& station = stations_[node];
    switch (receivers_[node].doing) {
        case DcfState::AwaitingCts: retry(node, true); break;
        case DcfState::AwaitingAck:
            if (station.data.to == everyone) {
                finish_packet(node, false);
                start_backoff(node);
            } else {
                retry(node, false);
            }
            break;
        case DcfState::AwaitingData:
        case DcfState::SendingAck: station.answer = PendingResponse::None; break;
        case DcfState::Nothing: return;
    }
    resume(node);
}

void World::retry(NodeId node, bool rts) {
    Station& station = stations_[node];
    std::uint32_t& tries = rts ? station.short_tries : data_tries(station);
    if (++tries >= (&tries == &station.short_tries ? mac_.short_retry : mac_.long_retry)) {
        tries = 0;
        finish_packet(node, true);
        return;
    }
    station.rts_pending = announced(station.data);
    widen(station);
    start_backoff(node);
}

// The transmitter is free again: answer, go on with the packet, or take the next.
void World::resume(NodeId node) {
    Station& station = stations_[node];
    if (station.answer != PendingResponse::None) {
        station.sifs_order = events_.enter(now_ + mac_.sifs, EventKind::SifsOver, node);
    } else if (station.serving) {
        if (!backoffs_[node].active) {
            if (station.rts_pending || !announced(station.data)) {
                start_backoff(node);
            } else {
                station.sifs_order = events_.enter(now_ + mac_.sifs, EventKind::SifsOver, node);
            }
        }
    } else {
        serve_next(node);
    }
    receivers_[node].doing = DcfState::Nothing;
    follow_medium(node);
}

void World::sifs_over(NodeId node) {
    Station& station = stations_[node];
    if (station.answer != PendingResponse::None) {
        send_answer(node);
    } else if (station.serving && !station.rts_pending) {
        // The CTS has come; a medium that has become busy meanwhile means to begin again.
        if (busy(node)) {
            station.rts_pending = announced(station.data);
            widen(station);
            start_backoff(node);
        } else {
            send_data(node);
        }
    }
}

void World::frame_heard(NodeId node, FrameOnAir& flight, std::size_t index) {
    const Frame& frame = flight.frame;
    if (frame.to == everyone) {
        hand_up(node, flight, index);
        return;
    }
    if (frame.to != node) {
        reserve(node, now_ + frame.reserve);
        if (frame.type == FrameType::Data && promiscuous_[node] && frame.packet.arp == Arp::None) {
            flight.heard_by.push_back(static_cast<std::uint32_t>(index));
        }
        return;
    }
    if (mac_.lora) return hand_up(node, flight, index);  // nothing is acknowledged, so nothing is repeated
    Station& station = stations_[node];
    Receiver& receiver = receivers_[node];
    switch (frame.type) {
        case FrameType::Rts:
            if (receiver.doing != DcfState::Nothing || station.answer != PendingResponse::None) return;
            station.answer = PendingResponse::Cts;
            station.answer_to = frame.from;
            station.answer_reserve = whole_micros(frame.reserve - mac_.sifs - cts_airtime_);
            resume(node);
            return;
        case FrameType::Cts:
            if (receiver.doing != DcfState::AwaitingCts) return;
            station.rts_pending = false;
            station.response_order = 0;
            station.short_tries = 0;
            resume(node);
            return;
        case FrameType::Ack:
            if (receiver.doing != DcfState::AwaitingAck) return;
            station.response_order = 0;
            data_tries(station) = 0;
            finish_packet(node, false);
            start_backoff(node);
            resume(node);
            return;
        case FrameType::Data: break;
    }
    if (announced(frame)) {
        // Without our CTS standing, the sender's reservation has lapsed: no ACK is due.
        if (receiver.doing != DcfState::AwaitingData) return;
        station.response_order = 0;
        station.answer = PendingResponse::Ack;
        station.answer_to = frame.from;
        resume(node);
    } else {
        if (station.answer != PendingResponse::None) return;
        station.answer = PendingResponse::Ack;
        station.answer_to = frame.from;
        if (receiver.doing == DcfState::Nothing) resume(node);
    }
    for (auto& [sender, sequence] : station.last_heard) {
        if (sender != frame.from) continue;
        if (sequence == frame.sequence) {
            ++counters_.repeated;
            return;
        }
        sequence = frame.sequence;
        hand_up(node, flight, index);
        return;
    }
    station.last_heard.emplace_back(frame.from, frame.sequence);
    hand_up(node, flight, index);
}

// Understood, and for this node: to its router, or to its link's own table.
void World::hand_up(NodeId node, FrameOnAir& flight, std::size_t index) {
    if (flight.frame.packet.arp == Arp::None) {
        flight.heard_by.push_back(static_cast<std::uint32_t>(index));
    } else {
        arp_heard(node, flight.frame.from, flight.frame.packet);
    }
}

}  // namespace roamcast
