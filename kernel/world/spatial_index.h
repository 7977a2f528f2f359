// The nodes that are near enough to sense a signal, and the power at each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "channel/channel.h"
#include "world/mobility.h"
#include "world/radio.h"

namespace roamcast {

// One receiver of a transmission.
struct Reception {
    NodeId node;
    std::uint32_t delay;  // ps on the way
    double power;         // W; negative: sensed, but too weak to decode
};

// Nodes are kept in the order of a grid's cells, row by row, so that those around a place are a few runs of
// neighbours in memory. A survey lays the grid anew before anyone has moved too far from its cell; the exact
// distances are taken at each transmission.
class SpatialIndex {
public:
    // Without a channel, powers depend on the distance alone.
    SpatialIndex(const Radio& radio, const Channel* channel, Mobility& mobility)
        : radio_(radio),
          channel_(channel),
          sense_(channel == nullptr ? radio.carrier_sense() : channel->reach()),
          mobility_(mobility) {}

    // Whole picoseconds of a way. Rounded up, no detour is ever shorter than the straight way; else a station would
    // hear another's slot begin a picosecond before its own, and lose it.
    static std::uint32_t round_up(double way) {
        const auto whole = static_cast<std::int64_t>(way);
        return static_cast<std::uint32_t>(whole + (static_cast<double>(whole) < way ? 1 : 0));
    }

    // Everyone who senses a signal that `source` sends at `now`, nearest first; ties by the node's number.
    void receivers(NodeId source, Time now, std::vector<Reception>& out);

private:
    // A node and its leg, with all that a distance needs side by side.
    struct MovingNode {
        double x, y, vx, vy;
        double start;
        NodeId node;
    };

    // A node that senses the signal, in the order in which it is found.
    struct Candidate {
        double squared;  // of the distance
        NodeId node;
    };

    // The nodes that may come into the range of a source before the next survey.
    struct Surroundings {
        std::vector<std::uint32_t> places;  // among `walkers_`: those that sensed the last signal, nearest first; then others
        bool asked = false;                 // since the last survey
    };

    void survey(Time now);
    void scan_cells(Point here, Time now, const MovingNode* self, double limit);
    void scan_surroundings(Surroundings& around, Point here, Time now);
    bool keep_surroundings(NodeId source, Point here, Time now);
    void measure();
    void follow_legs(Time now);
    void place(NodeId node, std::size_t where);
    std::size_t column_of(double x) const;
    std::size_t row_of(double y) const;
    void ask_channel(NodeId source, Point here, Time now);
    void sort_by_distance(std::vector<Reception>& out);
    void sort_almost_sorted(std::vector<Reception>& out) const;
    bool before(const Reception& a, const Reception& b) const;

    const Radio& radio_;
    const Channel* channel_;
    double sense_;  // m, the farthest that a signal may be sensed
    Mobility& mobility_;
    Time valid_until_ = -1;
    double reach_ = 0;
    double cell_ = 1;
    double left_ = 0;
    double bottom_ = 0;
    std::size_t columns_ = 0;
    std::size_t rows_ = 0;
    std::vector<std::uint32_t> cell_starts_;
    std::vector<MovingNode> walkers_;                    // by cell
    std::vector<std::uint32_t> place_of_;            // among them, by node
    std::vector<std::pair<Time, NodeId>> leg_ends_;  // a heap, the first to end on top
    std::vector<Surroundings> surroundings_;  // by node; none where there are too many nodes
    double moved_ = 0;                        // m that no node moves farther between two surveys

    // Scratch of receivers().
    std::vector<Candidate> found_;
    std::size_t count_ = 0;
    std::vector<double> ways_;    // ps
    std::vector<double> powers_;  // W
    std::vector<std::uint32_t> next_;
    std::vector<std::uint32_t> outside_;  // places of those that do not sense the signal
};

}  // namespace roamcast
