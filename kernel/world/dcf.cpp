// The distributed coordination function of 802.11, with the choices that ns-2 makes: a backoff is
// always drawn (from 0 .. window-1 slots), also when the medium is idle; a station backs off after
// each frame; a CTS is sent only if the medium is idle, an ACK in any case.
#include <algorithm>
#include <cmath>

#include "world/world.h"

namespace roamcast {

namespace {

constexpr Time plcp = 192'000'000;         // preamble and PLCP header, at 1 Mb/s
constexpr Time longest_way = 2'000'000;    // that a timeout allows for, each way
constexpr std::uint32_t data_bytes = 34;   // MAC header with four addresses, and FCS
constexpr std::uint32_t lora_bytes = 8;    // addresses, sequence number and type in a LoRa payload
constexpr std::uint32_t plcp_bytes = 24;   // ns-2 counts them where it compares sizes
constexpr std::uint32_t rts_bytes = 20;
constexpr std::uint32_t answer_bytes = 14; // CTS and ACK

}  // namespace

Time World::airtime(std::uint32_t bytes, double rate) const {
    if (mac_.lora) return mac_.lora->airtime(bytes);
    if (mac_.ofdm) return mac_.ofdm->airtime(bytes, rate);
    return plcp + static_cast<Time>(std::llround(static_cast<double>(bytes) * 8 * ticks_per_second / rate));
}

World::World(const RadioParameters& radio, const std::optional<ChannelParameters>& channel, const MacParameters& mac,
             std::uint64_t seed, RouterHost& owner)
    : radio_(radio),
      channel_(channel ? std::optional<Channel>(std::in_place, radio, *channel, seed) : std::nullopt),
      mac_(mac),
      sinr_(channel && channel->sinr ? std::optional<SinrModel>(std::in_place, *channel->sinr, *mac.ofdm) : std::nullopt),
      seed_(seed),
      owner_(owner),
      mobility_(seed),
      surroundings_(radio_, channel_ ? &*channel_ : nullptr, mobility_),
      rts_airtime_(airtime(rts_bytes, mac.basic_rate)),
      cts_airtime_(airtime(answer_bytes, mac.basic_rate)),
      ack_airtime_(airtime(answer_bytes, mac.basic_rate)),
      eifs_(mac.sifs + mac.difs + airtime(answer_bytes, mac.ofdm ? mac.basic_rate : 1e6)),
      range_delay_(SpatialIndex::round_up((channel_ ? channel_->reach() : radio.range) * (ticks_per_second / light)) + 1) {}

std::uint32_t World::frame_bytes(const Frame& data) const {
    return network_bytes(data.parcel) + data_bytes + plcp_bytes;
}

bool World::announced(const Frame& data) const {
    return data.to != everyone && frame_bytes(data) >= mac_.rts_threshold;
}

// A frame of just the threshold's size is announced, but its attempts are counted as those of a short one: so does ns-2.
std::uint32_t& World::data_tries(Station& station) const {
    return frame_bytes(station.data) > mac_.rts_threshold ? station.long_tries : station.short_tries;
}

// Reservations are told in whole microseconds.
Time World::whole_micros(Time time) {
    constexpr Time micro = 1'000'000;
    return (time + micro / 2) / micro * micro;
}

void World::enqueue(NodeId node, const Packet& parcel) {
    if (!radio_on(node)) {
        lose_unsent(node, parcel);
        return;
    }
    if (parcel.size > mac_.max_message) {
        ++counters_.too_large;
        record_unsent(node, parcel, Loss::TooLarge);
        let_go(parcel);
        return;
    }
    Station& station = stations_[node];
    if (!station.serving) {
        serve(node, parcel);
        return;
    }
    const bool urgent = (mac_.priority >> parcel.category & 1) != 0;
    const std::size_t in_class = urgent ? station.urgent : station.queue.size() - station.urgent;
    if (mac_.queue_per_class && in_class >= mac_.queue) {  // ns-2's CMUPriQueue: the newcomer is dropped
        lose_to_full_queue(node, parcel);
        return;
    }
    if (urgent) {
        const std::size_t place = mac_.newest_first ? 0 : station.urgent;
        station.queue.insert(station.queue.begin() + static_cast<std::ptrdiff_t>(place), parcel);
        ++station.urgent;
    } else {
        station.queue.push_back(parcel);
    }
    if (!mac_.queue_per_class && station.queue.size() >= mac_.queue) {  // the parcel being sent counts
        const Packet lost = station.queue.back();
        station.queue.pop_back();
        station.urgent = std::min(station.urgent, station.queue.size());
        lose_to_full_queue(node, lost);
    }
}

void World::lose_to_full_queue(NodeId node, const Packet& parcel) {
    const bool duty_cycle = held_by_duty_cycle(node);
    ++(duty_cycle ? counters_.duty_cycle : counters_.queue_full);
    record_unsent(node, parcel, duty_cycle ? Loss::DutyCycle : Loss::QueueFull);
    let_go(parcel);
}

std::uint32_t World::network_bytes(const Packet& parcel) const {
    return parcel.size + (parcel.arp == Arp::None ? mac_.network_header : 0);
}

void World::serve(NodeId node, const Packet& parcel) {
    Station& station = stations_[node];
    station.serving = true;
    station.data = Frame{FrameType::Data, node, parcel.to, ++station.sequence, 0, 0, parcel};
    const std::uint32_t bytes = network_bytes(parcel) + (mac_.lora ? lora_bytes : data_bytes);
    if (parcel.to == everyone) {
        station.data.airtime = airtime(bytes, mac_.basic_rate);
    } else {
        station.data.airtime = airtime(bytes, mac_.rate);
        station.data.reserve = whole_micros(mac_.sifs + ack_airtime_);
    }
    station.rts_pending = announced(station.data);
    station.data_airtime = 0;
    station.data_first = -1;
    station.attempts = 0;
    if (mac_.lora) return aloha_serve(node);
    // With an answer due, the backoff begins when the answer is sent.
    if (!backoffs_[node].active && station.answer == PendingResponse::None) start_backoff(node);
}

void World::serve_next(NodeId node) {
    Station& station = stations_[node];
    if (station.queue.empty()) return;
    const Packet parcel = station.queue.front();
    station.queue.erase(station.queue.begin());
    if (station.urgent > 0) --station.urgent;
    serve(node, parcel);
}

void World::finish_parcel(NodeId node, bool failed) {
    Station& station = stations_[node];
    const Packet parcel = station.data.parcel;
    station.serving = false;
    station.rts_pending = false;
    station.window = mac_.cw_min;
    if (parcel.arp != Arp::None) return;
    records_.transmissions.push_back({station.data_first, station.data_airtime, parcel.about, node, parcel.to,
                                      parcel.size, parcel.kind, station.attempts, parcel.category, failed});
    if (failed) {
        ++counters_.retry_limit;
        owner_.link_failed(node, parcel);
    }
    let_go(parcel);
}

void World::start_backoff(NodeId node) {
    Station& station = stations_[node];
    Backoff& backoff = backoffs_[node];
    backoff.active = true;
    backoff.paused = true;
    backoff.left = static_cast<Time>(station.random.below(station.window)) * mac_.slot;
    ears_[node].waiting = true;
    heed_medium(node);
}

// Let the backoff follow the medium: count while it is idle, stop while it is busy.
void World::heed_medium(NodeId node) {
    const Backoff& backoff = backoffs_[node];
    if (!backoff.active) return;
    const bool hearing = hears(node);
    if (!hearing && ears_[node].doing == DcfState::Nothing) {
        if (backoff.paused) count_on(node);
        return;
    }
    if (!backoff.paused) stop_counting(node);
    if (ears_[node].hears_weak()) await_end(node);
}

// A NAV has a known end, so the count is set to begin after it; whatever comes before that stops it again with
// nothing counted.
void World::count_on(NodeId node) {
    Backoff& backoff = backoffs_[node];
    backoff.paused = false;
    backoff.counting_at = std::max(now_, ears_[node].reserved) + mac_.difs;
    const Time due = backoff.counting_at + backoff.left;
    if (ending_ != nullptr) {
        // The top bit tells these tickets from those that the agenda gives out.
        backoff.ticket = ++tickets_ | 1ULL << 63;
        ending_->contenders.push_back({due, backoff.ticket, node});
    } else {
        backoff.ticket = agenda_.enter(due, EventKind::BackoffOver, node);
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
    const Receiver& ear = ears_[node];
    return hearing || ear.doing != DcfState::Nothing || ear.reserved > now_;
}

void World::reserve(NodeId node, Time until) {
    Receiver& ear = ears_[node];
    ear.reserved = std::max(ear.reserved, until);
}

void World::widen(Station& station) const {
    station.window = std::min(station.window * 2 + 1, mac_.cw_max);
}

void World::send_rts(NodeId node) {
    Station& station = stations_[node];
    if (station.data_first < 0) station.data_first = now_;
    station.data_airtime += rts_airtime_;
    ears_[node].doing = DcfState::AwaitingCts;
    const Time reserved = whole_micros(3 * mac_.sifs + cts_airtime_ + station.data.airtime + ack_airtime_);
    const Time window = rts_airtime_ + longest_way + mac_.sifs + cts_airtime_ + longest_way;
    station.response_order = agenda_.enter(now_ + window, EventKind::ResponseWindow, node);
    transmit(node, Frame{FrameType::Rts, node, station.data.to, 0, rts_airtime_, reserved, {}});
}

void World::send_data(NodeId node) {
    Station& station = stations_[node];
    if (station.data_first < 0) station.data_first = now_;
    station.data_airtime += station.data.airtime;
    ++station.attempts;
    ears_[node].doing = DcfState::AwaitingAck;
    Time window = station.data.airtime;
    if (station.data.to != everyone && !mac_.lora) window += longest_way + mac_.sifs + ack_airtime_ + longest_way;
    station.response_order = agenda_.enter(now_ + window, EventKind::ResponseWindow, node);
    transmit(node, station.data);
}

void World::send_answer(NodeId node) {
    Station& station = stations_[node];
    Receiver& ear = ears_[node];
    if (station.answer == PendingResponse::Cts) {
        if (busy(node)) {
            station.answer = PendingResponse::None;
            if (station.serving && !backoffs_[node].active) start_backoff(node);
            return;
        }
        ear.doing = DcfState::AwaitingData;
        heed_medium(node);
        // Until the data should have come: what the CTS reserves, less the ACK at its end.
        const Time window = cts_airtime_ + station.answer_reserve - mac_.sifs - ack_airtime_ + 2 * longest_way;
        station.response_order = agenda_.enter(now_ + window, EventKind::ResponseWindow, node);
        transmit(node, Frame{FrameType::Cts, node, station.answer_to, 0, cts_airtime_, station.answer_reserve, {}});
    } else {
        ear.doing = DcfState::SendingAck;
        heed_medium(node);
        station.response_order = agenda_.enter(now_ + ack_airtime_, EventKind::ResponseWindow, node);
        transmit(node, Frame{FrameType::Ack, node, station.answer_to, 0, ack_airtime_, 0, {}});
    }
}

void World::backoff_over(NodeId node) {
    Station& station = stations_[node];
    backoffs_[node].active = false;
    ears_[node].waiting = false;
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
    switch (ears_[node].doing) {
        case DcfState::AwaitingCts: retry(node, true); break;
        case DcfState::AwaitingAck:
            if (station.data.to == everyone) {
                finish_parcel(node, false);
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
        finish_parcel(node, true);
        return;
    }
    station.rts_pending = announced(station.data);
    widen(station);
    start_backoff(node);
}

// The transmitter is free again: answer, go on with the parcel, or take the next.
void World::resume(NodeId node) {
    Station& station = stations_[node];
    if (station.answer != PendingResponse::None) {
        station.sifs_order = agenda_.enter(now_ + mac_.sifs, EventKind::SifsOver, node);
    } else if (station.serving) {
        if (!backoffs_[node].active) {
            if (station.rts_pending || !announced(station.data)) {
                start_backoff(node);
            } else {
                station.sifs_order = agenda_.enter(now_ + mac_.sifs, EventKind::SifsOver, node);
            }
        }
    } else {
        serve_next(node);
    }
    ears_[node].doing = DcfState::Nothing;
    heed_medium(node);
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
        if (frame.type == FrameType::Data && promiscuous_[node] && frame.parcel.arp == Arp::None) {
            flight.heard_by.push_back(static_cast<std::uint32_t>(index));
        }
        return;
    }
    if (mac_.lora) return hand_up(node, flight, index);  // nothing is acknowledged, so nothing is repeated
    Station& station = stations_[node];
    Receiver& ear = ears_[node];
    switch (frame.type) {
        case FrameType::Rts:
            if (ear.doing != DcfState::Nothing || station.answer != PendingResponse::None) return;
            station.answer = PendingResponse::Cts;
            station.answer_to = frame.from;
            station.answer_reserve = whole_micros(frame.reserve - mac_.sifs - cts_airtime_);
            resume(node);
            return;
        case FrameType::Cts:
            if (ear.doing != DcfState::AwaitingCts) return;
            station.rts_pending = false;
            station.response_order = 0;
            station.short_tries = 0;
            resume(node);
            return;
        case FrameType::Ack:
            if (ear.doing != DcfState::AwaitingAck) return;
            station.response_order = 0;
            data_tries(station) = 0;
            finish_parcel(node, false);
            start_backoff(node);
            resume(node);
            return;
        case FrameType::Data: break;
    }
    if (announced(frame)) {
        // Without our CTS standing, the sender's reservation has lapsed: no ACK is due.
        if (ear.doing != DcfState::AwaitingData) return;
        station.response_order = 0;
        station.answer = PendingResponse::Ack;
        station.answer_to = frame.from;
        resume(node);
    } else {
        if (station.answer != PendingResponse::None) return;
        station.answer = PendingResponse::Ack;
        station.answer_to = frame.from;
        if (ear.doing == DcfState::Nothing) resume(node);
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
    if (flight.frame.parcel.arp == Arp::None) {
        flight.heard_by.push_back(static_cast<std::uint32_t>(index));
    } else {
        arp_heard(node, flight.frame.from, flight.frame.parcel);
    }
}

}  // namespace roamcast
