// Frames, the outcomes of their receptions, and the records of both.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "world/clock.h"
#include "world/mobility.h"

namespace roamcast {

constexpr NodeId everyone = UINT32_MAX;

using Handle = std::uint32_t;  // a router's message, kept by the owner of the routers

// Frames of the link itself, by which neighbours learn each other's addresses.
enum class Arp : std::uint8_t { None, Query, Reply };

// A router's message as the link sees it; or a query or a reply of the link's own, which no router hears of.
struct Packet {
    Handle message = 0;          // of a query: the node whose address is asked for
    NodeId to = everyone;
    std::uint32_t size = 0;      // bytes above the network header
    std::uint16_t kind = 0;      // the message's type, as numbered by the owner
    std::uint8_t category = 0;   // event, subscription, routing, control
    Arp arp = Arp::None;
    std::int64_t about = -1;     // the publication that it serves
};

enum class FrameType : std::uint8_t { Data, Rts, Cts, Ack };

struct Frame {
    FrameType type = FrameType::Data;
    NodeId from = 0;
    NodeId to = everyone;
    std::uint32_t sequence = 0;  // of data, so that a repeated frame is known
    Time airtime = 0;
    Time reserve = 0;  // how long others must keep silent after it (the NAV)
    Packet packet{};   // of data
};

// The outcome of a frame at one node in carrier-sense range; every frame has exactly one there.
enum class ReceptionOutcome : std::uint8_t {
    Received,  // decoded, also by nodes to which it is not addressed
    Collided,  // another signal overlapped it
    Captured,  // it came while a much stronger frame was being received
    Weak,      // sensed only: beyond the range of decoding
    Deaf,      // the node was sending itself
    Off,       // its sender's or the node's own radio was switched off meanwhile
    BitErrors, // wrong bits without interference; only with reception by SINR
};
constexpr std::size_t outcomes = 7;

// Why the link gave up on a packet.
enum class Loss : std::uint8_t { QueueFull, RetryLimit, RadioOff, Unresolved, TooLarge, DutyCycle };

struct Counters {
    std::array<std::uint64_t, 4> frames{};  // sent, by FrameType
    std::array<std::uint64_t, outcomes> outcome{};
    std::uint64_t sensed = 0;      // (frame, node) pairs in carrier-sense range whose frame has ended
    std::uint64_t repeated = 0;    // data frames received again because the ACK was lost
    std::uint64_t queue_full = 0;
    std::uint64_t retry_limit = 0;
    std::uint64_t unsent = 0;      // packets lost because the radio was switched off
    std::uint64_t switches = 0;    // of radios, off and on
    std::uint64_t arp_queries = 0;
    std::uint64_t arp_replies = 0;
    std::uint64_t unresolved = 0;  // packets given up because a neighbour's address was not known
    std::uint64_t duty_cycle = 0;  // packets that a full queue lost while the duty cycle forbade to send
    std::uint64_t too_large = 0;   // packets that do not fit into a frame
    std::uint64_t events_processed = 0;  // queued events handled
};

// One row a packet that the link finished with.
struct Transmission {
    Time time;     // first on the air
    Time airtime;  // of its data and RTS frames
    std::int64_t about;
    NodeId node;
    NodeId to;
    std::uint32_t size;
    std::uint16_t kind;
    std::uint16_t attempts;
    std::uint8_t category;
    bool failed;
};

// One row a frame about an event that a node should have heard and did not.
struct LostFrame {
    Time time;
    std::int64_t about;
    NodeId node;
    NodeId from;
    std::uint16_t kind;
    std::uint8_t category;
    std::uint8_t cause;  // a ReceptionOutcome; or 16 + a Loss
};

struct Records {
    std::vector<Transmission> transmissions;
    std::vector<LostFrame> lost;
};

}  // namespace roamcast
