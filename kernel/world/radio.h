// The power of a signal at a distance.
#pragma once

#include <cstdint>

#include "channel/table.h"

namespace roamcast {

constexpr double light = 3e8;  // m/s, as ns-2 has it

enum class Propagation : std::uint8_t { Friis, TwoRay, LogDistance };

struct RadioParameters {
    Propagation propagation = Propagation::TwoRay;
    double power = 0.28183815;       // W
    double frequency = 914e6;        // Hz
    double antenna_height = 1.5;     // m
    double range = 250;              // m, frames can be decoded up to here
    double carrier_sense = 550;      // m, and sensed up to here
    double exponent = 3;             // of log-distance path loss
    double reference = 1;            // m, the distance at which its loss is
    double reference_loss = 1;       // this many times; 0: as by Friis
    double capture = 10;             // a frame survives a later one that many times weaker; infinity: never
};

class Radio {
public:
    explicit Radio(const RadioParameters& parameters);

    // Watts received at the square of a distance: Friis near, two-ray ground beyond the crossover.
    // Both are worked out and one is chosen, so that a loop over distances has no branch in it.
    double received(double squared_distance) const {
        // Never more than was sent: Friis does not hold within a tenth of a wave.
        const double near = squared_distance * power_ <= friis_ ? power_ : friis_ / squared_distance;
        const double far = two_ray_ / (squared_distance * squared_distance);
        return squared_distance < crossover_squared_ ? near : far;
    }

    // The same with log-distance path loss, by table, if that is the model.
    double mean(double squared_distance) const {
        return propagation_ == Propagation::LogDistance ? log_distance_(squared_distance) : received(squared_distance);
    }

    // How far away a sender of that signal is, in metres; nan if the signal is. What was understood came from within the
    // range, whatever the signal says.
    double distance(double signal) const;

    bool decodable(double squared_distance) const { return squared_distance <= range_squared_; }
    double carrier_sense() const { return carrier_sense_; }
    double capture() const { return capture_; }

private:
    Propagation propagation_;
    LogTable log_distance_;  // W by the square of the distance
    double power_;
    double friis_;
    double two_ray_;
    double crossover_squared_;
    double range_;
    double range_squared_;
    double carrier_sense_;
    double capture_;
};

}  // namespace roamcast
