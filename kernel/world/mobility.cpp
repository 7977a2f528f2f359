#include "world/mobility.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

namespace roamcast {

namespace {

Point somewhere(Random& random, const Rectangle& home) {
    const double x = home.x + home.width * random.uniform();
    const double y = home.y + home.height * random.uniform();
    return {x, y};
}

double distance(Point a, Point b) {
    const double dx = b.x - a.x;
    const double dy = b.y - a.y;
    return std::sqrt(dx * dx + dy * dy);
}

// The mean of 1/v for a speed drawn uniformly: what a walk's mean duration needs.
double mean_slowness(double low, double high) {
    return high > low ? std::log(high / low) / (high - low) : 1 / low;
}

// The low 16 bits of a number, a zero after each.
std::uint32_t spread_bits(std::uint32_t number) {
    number = (number | number << 8) & 0x00ff00ffU;
    number = (number | number << 4) & 0x0f0f0f0fU;
    number = (number | number << 2) & 0x33333333U;
    return (number | number << 1) & 0x55555555U;
}

// The values in another order: the first is that which `order` names first.
template <typename Value>
void reorder(std::vector<Value>& values, const std::vector<NodeId>& order) {
    std::vector<Value> sorted;
    sorted.reserve(values.size());
    for (const NodeId old : order) sorted.push_back(std::move(values[old]));
    values = std::move(sorted);
}

}  // namespace

double mean_distance(double width, double height) {
    const double a = std::max(width, height);
    const double b = std::min(width, height);
    if (b <= 0) return a / 3;
    const double d = std::sqrt(a * a + b * b);
    const double corners = (a * a * a / (b * b) + b * b * b / (a * a) + d * (3 - a * a / (b * b) - b * b / (a * a))) / 15;
    const double sides = (b * b / a * std::acosh(d / b) + a * a / b * std::acosh(d / a)) / 6;
    return corners + sides;
}

NodeId Mobility::add(const Leg& leg, Walker walker, double top_speed) {
    legs_.push_back(leg);
    walkers_.push_back(std::move(walker));
    numbers_.push_back(static_cast<NodeId>(numbers_.size()));
    indices_.push_back(static_cast<NodeId>(indices_.size()));
    top_speed_ = std::max(top_speed_, top_speed);
    return static_cast<NodeId>(legs_.size() - 1);
}

void Mobility::sort_by_position() {
    double left = std::numeric_limits<double>::infinity();
    double bottom = left;
    double right = -left;
    double top = -left;
    for (const Leg& leg : legs_) {
        left = std::min(left, leg.x);
        right = std::max(right, leg.x);
        bottom = std::min(bottom, leg.y);
        top = std::max(top, leg.y);
    }
    const double scale = UINT16_MAX / std::max({right - left, top - bottom, 1e-3});
    std::vector<std::uint32_t> keys(legs_.size());
    for (std::size_t index = 0; index < legs_.size(); ++index) {
        const auto column = static_cast<std::uint32_t>((legs_[index].x - left) * scale);
        const auto row = static_cast<std::uint32_t>((legs_[index].y - bottom) * scale);
        keys[index] = spread_bits(column) | spread_bits(row) << 1;
    }
    std::vector<NodeId> order(legs_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&keys](NodeId a, NodeId b) { return keys[a] < keys[b]; });
    reorder(legs_, order);
    reorder(walkers_, order);
    reorder(numbers_, order);
    for (std::size_t index = 0; index < numbers_.size(); ++index) indices_[numbers_[index]] = static_cast<NodeId>(index);
}

NodeId Mobility::add_static(Point place) {
    Leg leg;
    leg.x = place.x;
    leg.y = place.y;
    return add(leg, Walker{}, 0);
}

NodeId Mobility::add_waypoint(const Waypoint& walk) {
    Walker walker;
    walker.kind = Kind::Waypoint;
    walker.walk = walk;
    walker.random = Random(seed_, Purpose::Movement, legs_.size());
    Leg leg;
    if (walk.stationary) {
        start_stationary(walker, leg);
    } else {
        const Point place = somewhere(walker.random, walk.home);
        leg.x = place.x;
        leg.y = place.y;
        leg.end = from_seconds(walk.pause);
    }
    return add(leg, std::move(walker), walk.max_speed);
}

// The walk as it looks after a long time (Navidi and Camp): paused with the share of time that pauses
// take, else on a leg chosen in proportion to its length, at a speed in proportion to its slowness.
void Mobility::start_stationary(Walker& walker, Leg& leg) const {
    const Waypoint& walk = walker.walk;
    const double walking = mean_distance(walk.home.width, walk.home.height) * mean_slowness(walk.min_speed, walk.max_speed);
    if (walker.random.uniform() * (walk.pause + walking) < walk.pause) {
        const Point place = somewhere(walker.random, walk.home);
        leg.x = place.x;
        leg.y = place.y;
        leg.end = from_seconds(walk.pause * walker.random.uniform());
        return;
    }
    const double longest = std::sqrt(walk.home.width * walk.home.width + walk.home.height * walk.home.height);
    Point from;
    Point to;
    do {
        from = somewhere(walker.random, walk.home);
        to = somewhere(walker.random, walk.home);
    } while (walker.random.uniform() * longest > distance(from, to));
    const double speed = walk.min_speed * std::pow(walk.max_speed / walk.min_speed, walker.random.uniform());
    const double done = walker.random.uniform();
    walker.pausing = false;
    walker.target = to;
    walk_to(leg, {from.x + (to.x - from.x) * done, from.y + (to.y - from.y) * done}, to, 0, speed);
}

void Mobility::walk_to(Leg& leg, Point from, Point target, Time start, double speed) {
    const double way = distance(from, target);
    leg.x = from.x;
    leg.y = from.y;
    leg.start = start;
    // A leg lasts at least a picosecond, so that walks of no length cannot stop the clock.
    const Time duration = std::max<Time>(1, from_seconds(way / speed));
    leg.vx = (target.x - from.x) / static_cast<double>(duration);
    leg.vy = (target.y - from.y) / static_cast<double>(duration);
    leg.end = start + duration;
}

NodeId Mobility::add_ordered(Point start, std::vector<MovementCommand> orders) {
    Walker walker;
    walker.kind = Kind::Ordered;
    walker.orders = std::move(orders);
    double top = 0;
    for (const MovementCommand& order : walker.orders) top = std::max(top, order.speed);
    Leg leg;
    leg.x = start.x;
    leg.y = start.y;
    leg.end = walker.orders.empty() ? never : walker.orders.front().time;
    return add(leg, std::move(walker), top);
}

// The next leg of a node under orders: a new order interrupts the walk under way; without one it
// stands at its target.
void Mobility::follow_orders(Walker& walker, Leg& leg) const {
    const Time now = leg.end;
    const bool ordered = walker.next_order < walker.orders.size() && walker.orders[walker.next_order].time <= now;
    const Point here = !ordered && !walker.pausing ? walker.target : leg.at(now);
    Leg next;
    next.x = here.x;
    next.y = here.y;
    next.start = now;
    walker.pausing = true;
    if (ordered) {
        const MovementCommand& order = walker.orders[walker.next_order++];
        if (order.speed > 0) {
            walker.pausing = false;
            walker.target = order.target;
            walk_to(next, here, order.target, now, order.speed);
        }
    }
    if (walker.next_order < walker.orders.size()) next.end = std::min(next.end, std::max(now, walker.orders[walker.next_order].time));
    leg = next;
}

void Mobility::advance(NodeId node) {
    Leg& leg = legs_[node];
    Walker& walker = walkers_[node];
    if (walker.kind == Kind::Ordered) {
        follow_orders(walker, leg);
        return;
    }
    if (walker.kind == Kind::Static) {
        leg.end = never;
        return;
    }
    const Time now = leg.end;
    const Point here = walker.pausing ? leg.at(now) : walker.target;
    if (walker.pausing || walker.walk.pause <= 0) {
        walker.pausing = false;
        walker.target = somewhere(walker.random, walker.walk.home);
        walk_to(leg, here, walker.target, now, walker.random.uniform(walker.walk.min_speed, walker.walk.max_speed));
        return;
    }
    walker.pausing = true;
    leg = Leg{here.x, here.y, 0, 0, now, now + from_seconds(walker.walk.pause)};
}

}  // namespace roamcast
