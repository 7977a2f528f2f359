// What a signal is worth at a distance, and who is near enough to sense it.
#pragma once

#include <cstdint>
#include <vector>

#include "world/mobility.h"

namespace roamcast {

enum class Propagation : std::uint8_t { Friis, TwoRay };

struct RadioParameters {
    Propagation propagation = Propagation::TwoRay;
    double power = 0.28183815;       // W
    double frequency = 914e6;        // Hz
    double antenna_height = 1.5;     // m
    double range = 250;              // m, frames can be decoded up to here
    double carrier_sense = 550;      // m, and sensed up to here
    double capture = 10;             // a frame survives a later one that many times weaker; infinity: never
};

class Radio {
public:
    explicit Radio(const RadioParameters& parameters);

    // Watts received at the square of a distance: Friis near, two-ray ground beyond the crossover.
    double received(double squared_distance) const {
        if (squared_distance < crossover_squared_) {
            // Never more than was sent: Friis does not hold within a tenth of a wave.
            return squared_distance * power_ <= friis_ ? power_ : friis_ / squared_distance;
        }
        return two_ray_ / (squared_distance * squared_distance);
    }

    bool sensed(double squared_distance) const { return squared_distance <= sense_squared_; }
    bool decodable(double squared_distance) const { return squared_distance <= range_squared_; }
    double carrier_sense() const { return carrier_sense_; }
    double capture() const { return capture_; }

private:
    double power_;
    double friis_;
    double two_ray_;
    double crossover_squared_;
    double range_squared_;
    double sense_squared_;
    double carrier_sense_;
    double capture_;
};

// One receiver of a transmission.
struct Reception {
    NodeId node;
    std::uint32_t delay;  // ns on the way
    double power;         // W; negative: sensed, but too weak to decode
};

// Who senses whom. A grid laid over the plane gives each node its candidates for a while; the exact
// distances are taken at each transmission.
class Surroundings {
public:
    Surroundings(const Radio& radio, Mobility& mobility) : radio_(radio), mobility_(mobility) {}

    // Everyone who senses a signal that `source` sends at `now`, nearest first.
    void receivers(NodeId source, Time now, std::vector<Reception>& out);

private:
    struct Candidates {
        Time survey = -1;
        std::vector<NodeId> nodes;  // in the order of the last distances, so that sorting is quick
    };

    void survey(Time now);
    void gather(NodeId source, Candidates& candidates);

    const Radio& radio_;
    Mobility& mobility_;
    Time surveyed_ = -1;
    Time valid_until_ = -1;
    double reach_ = 0;
    double cell_ = 1;
    double left_ = 0;
    double bottom_ = 0;
    std::size_t columns_ = 0;
    std::size_t rows_ = 0;
    std::vector<Point> places_;
    std::vector<std::uint32_t> cell_starts_;
    std::vector<NodeId> cell_nodes_;
    std::vector<Candidates> candidates_;
    std::vector<NodeId> beyond_;  // scratch of receivers()
};

}  // namespace roamcast
