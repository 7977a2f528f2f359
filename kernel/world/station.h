// A station: one node's 802.11 link. State only; the rules are in dcf.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "channel/lora.h"
#include "channel/ofdm.h"
#include "world/frame.h"
#include "world/random.h"

namespace roamcast {

struct MacParameters {
    double rate = 2e6;        // b/s, unicast data
    double basic_rate = 1e6;  // b/s, broadcast and control frames
    Time slot = 20'000'000;   // ps
    Time sifs = 10'000'000;
    Time difs = 50'000'000;
    std::uint32_t cw_min = 31;
    std::uint32_t cw_max = 1023;
    std::uint32_t short_retry = 7;
    std::uint32_t long_retry = 4;
    std::uint32_t rts_threshold = 0;   // bytes with all headers; unicast of at least this size is announced by an RTS
    std::uint32_t max_message = UINT32_MAX;  // bytes, without headers; larger ones are dropped
    std::uint32_t queue = 50;          // packets, the one being sent included
    std::uint32_t network_header = 20; // bytes before the message
    Time link_delay = 25'000'000;      // between router and link, each way
    std::uint32_t priority = 1 << 2;   // a bit per category that goes first in the queue
    bool newest_first = false;         // and of these the latest, as in ns-2, or in order
    bool queue_per_class = false;      // messages that go first and the others have a queue each
    std::optional<OfdmParameters> ofdm;  // duration of frames; that of DSSS if absent
    std::optional<LoraParameters> lora;  // a LoRa radio instead of 802.11
    bool arp = false;                  // addresses of neighbours are asked for, as in ns-2
};

// The state of a station's transmitter.
enum class DcfState : std::uint8_t { Nothing, AwaitingCts, AwaitingData, AwaitingAck, SendingAck };

enum class PendingResponse : std::uint8_t { None, Cts, Ack };

// The state that every signal changes at every node in range; small, so that many fit into the cache.
struct Receiver {
    static constexpr std::uint32_t silence = UINT32_MAX;

    std::uint32_t hearing = silence;  // the transmission being heard
    bool collided = false;
    bool deaf = false;     // own transmission overlapped the reception
    bool waiting = false;  // the station has a backoff under way that the medium matters to
    DcfState doing = DcfState::Nothing;
    double power = 0;  // of what is being heard; negative: too weak to decode
    Time ends = 0;     // of what is being heard, or was
    Time reserved = 0; // the NAV: others have the medium until then
    Time sending = 0;  // own transmission lasts until then

    bool hears_weak() const { return hearing != silence && power < 0; }

    // A weak signal has ended: it left a frame that could not be decoded, unless own sending drowned it.
    void hear_out(Time eifs) {
        hearing = silence;
        if (sending <= ends && reserved < ends + eifs) reserved = ends + eifs;
    }
};

// A backoff counts slots of an idle medium and stops while it is busy.
struct Backoff {
    bool active = false;
    bool paused = false;
    Time left = 0;         // without the DIFS before it
    Time counting_at = 0;  // when the first slot begins
    std::uint64_t ticket = 0;  // of the count under way; an expiry with another ticket is stale
};

struct Station {
    Random random;
    std::uint32_t window = 31;
    std::uint32_t short_tries = 0;
    std::uint32_t long_tries = 0;
    std::uint32_t sequence = 0;

    bool serving = false;      // `data` is the packet being sent
    bool rts_pending = false;  // and must be announced first
    Frame data{};
    Time data_airtime = 0;     // spent on this packet so far
    Time data_first = -1;      // first on the air
    std::uint16_t attempts = 0;

    PendingResponse answer = PendingResponse::None;
    NodeId answer_to = 0;
    Time answer_reserve = 0;

    std::uint64_t response_order = 0;  // queued events that are not stale
    std::uint64_t sifs_order = 0;

    std::vector<Packet> queue;  // short; an empty deque would take 600 bytes
    std::size_t urgent = 0;  // packets at the head of the queue that go first
    std::vector<std::pair<NodeId, std::uint32_t>> last_heard;  // sender, sequence of its last data frame
};

}  // namespace roamcast
