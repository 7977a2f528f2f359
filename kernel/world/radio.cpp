#include "world/radio.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace roamcast {

Radio::Radio(const RadioParameters& p)
    : propagation_(p.propagation),
      power_(p.power),
      range_(p.range),
      range_squared_(p.range * p.range),
      carrier_sense_(p.carrier_sense),
      capture_(p.capture) {
    const double wave = light / p.frequency;
    const double height = p.antenna_height * p.antenna_height;
    friis_ = p.power * wave * wave / (16 * std::numbers::pi * std::numbers::pi);
    two_ray_ = p.power * height * height;
    const double crossover = 4 * std::numbers::pi * height / wave;
    crossover_squared_ =
        p.propagation == Propagation::Friis ? std::numeric_limits<double>::infinity() : crossover * crossover;
    if (p.propagation != Propagation::LogDistance) return;
    const double squared = p.reference * p.reference;
    const double at_reference = p.reference_loss > 0 ? p.power / p.reference_loss : received(squared);
    log_distance_ = LogTable(-20, 41, [&](double at) {
        return std::min(p.power, at_reference * std::pow(squared / at, p.exponent / 2));
    });
}

double Radio::distance(double signal) const {
    if (std::isnan(signal)) return signal;
    const double felt = std::min(signal, power_);
    if (felt <= 0) return range_;
    if (propagation_ == Propagation::LogDistance) {
        const auto weakness = [this](double distance) { return -mean(distance * distance); };
        return invert(weakness, -felt, 0, range_);
    }
    const double near = friis_ / felt;  // squared
    return std::min(range_, near < crossover_squared_ ? std::sqrt(near) : std::sqrt(std::sqrt(two_ray_ / felt)));
}

}  // namespace roamcast
