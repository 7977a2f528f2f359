// Bytes and durations of a frame beside its message.
#pragma once

#include <cstdint>

#include "world/clock.h"

namespace roamcast {

constexpr Time plcp = 192'000'000;         // preamble and PLCP header, at 1 Mb/s
constexpr Time longest_way = 2'000'000;    // that a timeout allows for, each way
constexpr std::uint32_t data_bytes = 34;   // MAC header with four addresses, and FCS
constexpr std::uint32_t lora_bytes = 8;    // addresses, sequence number and type in a LoRa payload
constexpr std::uint32_t plcp_bytes = 24;   // ns-2 counts them where it compares sizes
constexpr std::uint32_t rts_bytes = 20;
constexpr std::uint32_t answer_bytes = 14; // CTS and ACK

}  // namespace roamcast
