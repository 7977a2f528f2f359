// Where nodes are and how they move, as Python is shown it.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "python/routed_world.h"

namespace roamcast {

Point PyWorld::velocity(NodeId node) {
    position(node);
    const Leg& leg = world_.mobility().leg(node);
    return {leg.vx * ticks_per_second, leg.vy * ticks_per_second};
}

nb::object PyWorld::positions() {
    std::vector<double> places;
    places.reserve(2 * world_.size());
    for (NodeId number = 0; number < world_.size(); ++number) {
        const Point point = position(world_.mobility().index(number));
        places.push_back(point.x);
        places.push_back(point.y);
    }
    return column(std::move(places));
}

nb::dict PyWorld::movement(double seconds) {
    std::vector<std::int32_t> nodes;
    std::array<std::vector<double>, 6> columns;
    const Time until = from_seconds(seconds);
    Mobility mobility = world_.mobility();
    for (NodeId number = 0; number < mobility.size(); ++number) {
        const NodeId node = mobility.index(number);
        for (;;) {
            const Leg leg = mobility.leg(node);
            const Time end = std::min(leg.end, until);
            const Point target = leg.at(end);
            nodes.push_back(static_cast<std::int32_t>(number));
            const double speed = std::sqrt(leg.vx * leg.vx + leg.vy * leg.vy) * ticks_per_second;
            const double values[] = {to_seconds(leg.start), leg.x, leg.y, target.x, target.y, speed};
            for (std::size_t i = 0; i < 6; ++i) columns[i].push_back(values[i]);
            if (leg.end >= until) break;
            mobility.advance(node);
        }
    }
    nb::dict out;
    out["node"] = column(std::move(nodes));
    const char* names[] = {"time", "x0", "y0", "x1", "y1", "speed"};
    for (std::size_t i = 0; i < 6; ++i) out[names[i]] = column(std::move(columns[i]));
    return out;
}

nb::list PyWorld::receivers(NodeId number) {
    std::vector<Reception> found;
    world_.spatial_index().receivers(index(number), world_.now(), found);
    nb::list out;
    for (const Reception& r : found) out.append(nb::make_tuple(this->number(r.node), r.delay, r.power));
    return out;
}

nb::list PyWorld::order() const {
    nb::list out;
    for (NodeId node = 0; node < world_.size(); ++node) out.append(number(node));
    return out;
}

}  // namespace roamcast
