// Fading: the power of each frame at each receiver varies around its mean, independently of other frames and receivers.
#pragma once

#include <cstdint>

#include "channel/table.h"
#include "world/random.h"

namespace roamcast {

// Nakagami-m: the power is gamma distributed with mean 1 and variance 1/m. Rayleigh is m = 1.
class Fading {
public:
    // Gains above this are clipped, so that the distance at which a frame can be sensed is bounded.
    static constexpr double most = 10;

    Fading(double m, std::uint64_t seed);

    // The gain of a frame at a receiver; `frame` identifies the transmission.
    double gain(std::uint64_t frame, std::uint64_t receiver) const {
        const double chance = uniform(mix(seed_, frame, receiver));
        return chance < 0.5 ? low_(chance) : high_(1 - chance);
    }

private:
    std::uint64_t seed_;
    LogTable low_;   // by the probability of less
    LogTable high_;  // by the probability of more
};

}  // namespace roamcast
