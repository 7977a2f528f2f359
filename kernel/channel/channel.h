// The channel: the power of a frame at a receiver, by path loss, shadowing, obstacles and fading.
//
// A world without these options has no channel; its signals depend on the distance alone (world/radio.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "channel/fading.h"
#include "channel/obstacles.h"
#include "channel/shadowing.h"
#include "channel/sinr.h"
#include "world/radio.h"

namespace roamcast {

struct ChannelParameters {
    std::optional<ShadowingParameters> shadowing;
    std::optional<double> fading;  // m of Nakagami; 1 is Rayleigh
    std::vector<Obstacle> obstacles;
    std::optional<SinrParameters> sinr;  // reception by SINR, not by the range
};

class Channel {
public:
    Channel(const RadioParameters& radio, const ChannelParameters& parameters, std::uint64_t seed);

    // The end of all links of a frame, with what they share.
    struct Source {
        Point place;
        std::uint64_t frame;
        Shadowing::Cells cells;
    };

    // Identify a frame by its sender and the time of its start.
    Source source(NodeId node, Point place, Time now) const;

    // W at a receiver; negative: sensed, but too weak to decode; 0: not sensed.
    double power(const Source& from, NodeId node, Point place, double squared_distance) const;

    // Metres; no frame is sensed beyond.
    double reach() const { return reach_; }

private:
    double find_reach(double most_gain) const;

    Radio radio_;
    double most_power_;
    double decode_;  // W
    double sense_;   // W
    std::optional<Shadowing> shadowing_;
    std::optional<Obstacles> obstacles_;
    std::optional<Fading> fading_;
    double reach_;
};

}  // namespace roamcast
