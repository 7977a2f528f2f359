// Who is near enough to sense a signal, and how strongly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "world/mobility.h"
#include "world/radio.h"

namespace roamcast {

// One receiver of a transmission.
struct Reception {
    NodeId node;
    std::uint32_t delay;  // ns on the way
    double power;         // W; negative: sensed, but too weak to decode

    // Who is reached first; ties go by node.
    bool before(const Reception& other) const { return key() < other.key(); }

private:
    std::uint64_t key() const { return static_cast<std::uint64_t>(delay) << 32 | node; }
};

// Nodes are kept in the order of a grid's cells, row by row, so that those around a place are a few runs of
// neighbours in memory. A survey lays the grid anew before anyone has moved too far from its cell; the exact
// distances are taken at each transmission.
class Surroundings {
public:
    Surroundings(const Radio& radio, Mobility& mobility) : radio_(radio), mobility_(mobility) {}

    // Everyone who senses a signal that `source` sends at `now`, nearest first.
    void receivers(NodeId source, Time now, std::vector<Reception>& out);

private:
    // The legs of all nodes by place in the grid: a column each, because distances are taken several at once.
    struct Legs {
        std::vector<double> x, y, vx, vy, start;
        std::vector<NodeId> node;

        void resize(std::size_t size);
        void set(std::size_t place, NodeId whose, const Leg& leg);
    };

    void survey(Time now);
    void follow_legs(Time now);
    std::size_t column_of(double x) const;
    std::size_t row_of(double y) const;
    void look_along(std::size_t first, std::size_t last, Point here, NodeId source, double now);
    void sort_by_distance(std::vector<Reception>& out);

    const Radio& radio_;
    Mobility& mobility_;
    Time valid_until_ = -1;
    double reach_ = 0;
    double cell_ = 1;
    double left_ = 0;
    double bottom_ = 0;
    std::size_t columns_ = 0;
    std::size_t rows_ = 0;
    std::vector<std::uint32_t> cell_starts_;
    Legs legs_;
    std::vector<std::uint32_t> place_of_;            // by node
    std::vector<std::pair<Time, NodeId>> leg_ends_;  // a heap, the first to end on top

    // Scratch of receivers(): those within reach, then those who sense.
    std::vector<double> squared_;
    std::vector<NodeId> found_;
    std::vector<double> found_squared_;
    std::vector<std::uint32_t> delays_;
    std::vector<double> powers_;
    std::size_t count_ = 0;
};

}  // namespace roamcast
