#include "channel/channel.h"

#include <algorithm>
#include <cmath>

#include "channel/table.h"

namespace roamcast {

namespace {

// Metres: delays are stored as 32-bit picoseconds.
constexpr double farthest = 1e6;

}  // namespace

Channel::Channel(const RadioParameters& radio, const ChannelParameters& parameters, std::uint64_t seed)
    : radio_(radio),
      most_power_(radio.power),
      decode_(parameters.sinr ? parameters.sinr->noise * parameters.sinr->preamble
                              : radio_.mean(radio.range * radio.range)),
      sense_(radio_.mean(radio.carrier_sense * radio.carrier_sense)) {
    if (parameters.shadowing) shadowing_.emplace(*parameters.shadowing, seed);
    if (!parameters.obstacles.empty()) obstacles_.emplace(parameters.obstacles);
    if (parameters.fading) fading_.emplace(*parameters.fading, seed);
    reach_ = find_reach((shadowing_ ? shadowing_->most_gain() : 1) * (fading_ ? Fading::most : 1));
}

double Channel::find_reach(double most_gain) const {
    const auto weakness = [this](double distance) { return -radio_.mean(distance * distance); };
    return invert(weakness, -sense_ / most_gain, 0, farthest) * (1 + 1e-9);
}

Channel::Source Channel::source(NodeId node, Point place, Time now) const {
    Source from{place, mix(node, static_cast<std::uint64_t>(now), 0), {}};
    if (shadowing_) from.cells = shadowing_->cells(place);
    return from;
}

double Channel::power(const Source& from, NodeId node, Point place, double squared_distance) const {
    double power = radio_.mean(squared_distance);
    if (shadowing_) power *= shadowing_->gain(from.cells, shadowing_->cells(place));
    if (obstacles_) {
        if (power * (fading_ ? Fading::most : 1) < sense_) return 0;
        power *= obstacles_->gain(from.place, place);
    }
    if (fading_) {
        if (power * Fading::most < sense_) return 0;
        power *= fading_->gain(from.frame, node);
    }
    if (power < sense_) return 0;
    power = std::min(power, most_power_);
    return power >= decode_ ? power : -power;
}

}  // namespace roamcast
