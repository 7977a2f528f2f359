// A LoRa radio: duration of frames by Semtech's formula, access without coordination, and a duty cycle.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "world/clock.h"

namespace roamcast {

struct LoraParameters {
    int spreading_factor = 7;  // 7 to 12
    double bandwidth = 125e3;  // Hz
    int coding = 1;            // 1 to 4: code rate 4/5 to 4/8
    int preamble = 8;          // symbols
    bool listen = false;       // detect activity before sending (CAD); else pure ALOHA
    double duty_cycle = 0.01;  // share of the time that a node may send; 1: no limit

    Time symbol() const { return from_seconds(std::ldexp(1.0, spreading_factor) / bandwidth); }

    // With an explicit header and a CRC; the low data rate optimisation is on for symbols longer than 16 ms (SX1276
    // data sheet, section 4.1.1.7).
    Time airtime(std::uint32_t bytes) const {
        const int optimised = symbol() > from_seconds(0.016) ? 2 : 0;
        const int bits = 8 * static_cast<int>(bytes) - 4 * spreading_factor + 28 + 16;
        const int block = 4 * (spreading_factor - optimised);
        const int symbols = 8 + std::max(0, (bits + block - 1) / block) * (coding + 4);
        return symbol() * (4 * (preamble + symbols) + 17) / 4;
    }
};

}  // namespace roamcast
