#include "world/radio.h"

#include <limits>
#include <numbers>

namespace roamcast {

Radio::Radio(const RadioParameters& p)
    : power_(p.power),
      range_squared_(p.range * p.range),
      sense_squared_(p.carrier_sense * p.carrier_sense),
      carrier_sense_(p.carrier_sense),
      capture_(p.capture) {
    const double wave = light / p.frequency;
    const double height = p.antenna_height * p.antenna_height;
    friis_ = p.power * wave * wave / (16 * std::numbers::pi * std::numbers::pi);
    two_ray_ = p.power * height * height;
    const double crossover = 4 * std::numbers::pi * height / wave;
    crossover_squared_ =
        p.propagation == Propagation::Friis ? std::numeric_limits<double>::infinity() : crossover * crossover;
}

}  // namespace roamcast
