// Address resolution, as ns-2 does it: the addresses that a station knows.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "world/frame.h"

namespace roamcast {

constexpr std::uint32_t arp_bytes = 28;  // of a query or a reply, without a network header
constexpr Time arp_delay = 5'000'000;    // before either, and before what was held goes down
constexpr std::uint8_t most_queries = 3; // for one neighbour; after that its messages fail, and the count begins again

// The state of one neighbour's address at one station.
struct Address {
    bool known = false;
    bool holds = false;        // `held` waits for the address
    std::uint8_t queries = 0;  // sent and not answered
    Packet held{};
};

using Addresses = std::unordered_map<NodeId, Address>;

}  // namespace roamcast
