// The OFDM PHY of 802.11: duration of frames.
#pragma once

#include <cstdint>

#include "channel/error_rate.h"
#include "world/clock.h"

namespace roamcast {

struct OfdmMode {
    double rate = 6e6;          // b/s
    std::uint32_t bits = 24;    // of data in a symbol
    Time preamble = 20'000'000; // ps, header included
    Modulation modulation = Modulation::Bpsk;
    CodeRate code = CodeRate::Half;
};

struct OfdmParameters {
    Time symbol = 4'000'000;  // ps
    OfdmMode unicast{};       // of data to one neighbour
    OfdmMode basic{};         // of all other frames

    const OfdmMode& mode(double rate) const { return rate == unicast.rate ? unicast : basic; }

    // Preamble and whole symbols, which carry 16 service bits and 6 tail bits beside the frame.
    Time airtime(std::uint32_t bytes, double rate) const {
        const OfdmMode& used = mode(rate);
        const std::uint32_t symbols = (16 + 8 * bytes + 6 + used.bits - 1) / used.bits;
        return used.preamble + static_cast<Time>(symbols) * symbol;
    }
};

}  // namespace roamcast
