// Movement in legs: straight, at constant speed, each starting where the last one ended.
#pragma once

#include <cstdint>
#include <vector>

#include "world/clock.h"
#include "world/random.h"

namespace roamcast {

using NodeId = std::uint32_t;

struct Point {
    double x = 0;
    double y = 0;
};

struct Rectangle {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
};

struct Leg {
    double x = 0;  // where it starts
    double y = 0;
    double vx = 0;  // metres per picosecond
    double vy = 0;
    Time start = 0;
    Time end = never;

    Point at(Time time) const {
        const double passed = static_cast<double>(time - start);
        return {x + vx * passed, y + vy * passed};
    }
};

struct Waypoint {
    Rectangle home;
    double min_speed = 1;  // metres per second
    double max_speed = 1;
    double pause = 0;        // seconds
    bool stationary = true;  // begin as the walk looks after a long time, not at rest
};

// An order to walk, as ns-2's movement files give them.
struct MovementCommand {
    Time time;
    Point target;
    double speed;  // metres per second; 0 stands still
};

// The mean distance of two random points of a rectangle.
double mean_distance(double width, double height);

class Mobility {
public:
    explicit Mobility(std::uint64_t seed) : seed_(seed) {}

    NodeId add_static(Point place);
    NodeId add_waypoint(const Waypoint& walk);
    NodeId add_ordered(Point start, std::vector<MovementCommand> orders);

    std::size_t size() const { return legs_.size(); }

    // Nodes are addressed by index. It is the node's number, the order in which it was added, until the nodes are
    // sorted by their present position along a Z-order curve: neighbours then have adjacent state in memory.
    void sort_by_position();
    NodeId number(NodeId index) const { return numbers_[index]; }
    NodeId index(NodeId number) const { return indices_[number]; }

    // No node ever moves faster than this, in metres per second.
    double top_speed() const { return top_speed_; }

    // Where a node is; `time` must not go back.
    Point position(NodeId node, Time time) {
        Leg& leg = legs_[node];
        while (time >= leg.end) advance(node);
        return leg.at(time);
    }

    const Leg& leg(NodeId node) const { return legs_[node]; }
    void advance(NodeId node);

private:
    enum class Kind : std::uint8_t { Static, Waypoint, Ordered };

    struct Walker {
        Kind kind = Kind::Static;
        bool pausing = true;      // of the leg under way
        Waypoint walk{};          // Kind::Waypoint
        Point target{};           // of the leg under way
        Random random{};          //
        std::vector<MovementCommand> orders{};  // Kind::Ordered
        std::size_t next_order = 0;
    };

    NodeId add(const Leg& leg, Walker walker, double top_speed);
    void start_stationary(Walker& walker, Leg& leg) const;
    static void walk_to(Leg& leg, Point from, Point target, Time start, double speed);
    void follow_orders(Walker& walker, Leg& leg) const;

    std::uint64_t seed_;
    std::vector<Leg> legs_;
    std::vector<Walker> walkers_;
    std::vector<NodeId> numbers_;  // by index
    std::vector<NodeId> indices_;  // by number
    double top_speed_ = 0;
};

}  // namespace roamcast
