#include "world/spatial_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace roamcast {

namespace {

// How much farther than the carrier-sense range nodes are sought, so that cells stay valid while nodes
// move. More of it means rarer surveys and more distances taken in vain.
constexpr double slack = 0.05;

// Metres that rounding may misplace a node by, and more.
constexpr double rounding = 1e-3;

// Cells per reach: smaller cells follow the circle more closely and are more to visit.
constexpr int fineness = 4;

// Of more nodes the surroundings would take more memory than the processor's caches have.
constexpr std::size_t most_with_surroundings = 4096;

}  // namespace

void SpatialIndex::place(NodeId node, std::size_t where) {
    const Leg& leg = mobility_.leg(node);
    // As a double the start is exact for the first hundred days.
    walkers_[where] = {leg.x, leg.y, leg.vx, leg.vy, static_cast<double>(leg.start), node};
}

std::size_t SpatialIndex::column_of(double x) const {
    return std::min(columns_ - 1, static_cast<std::size_t>(std::max(0.0, (x - left_) / cell_)));
}

std::size_t SpatialIndex::row_of(double y) const {
    return std::min(rows_ - 1, static_cast<std::size_t>(std::max(0.0, (y - bottom_) / cell_)));
}

void SpatialIndex::survey(Time now) {
    const std::size_t nodes = mobility_.size();
    std::vector<Point> places(nodes);
    double right = -std::numeric_limits<double>::infinity();
    double top = right;
    left_ = bottom_ = std::numeric_limits<double>::infinity();
    for (NodeId node = 0; node < nodes; ++node) {
        const Point place = places[node] = mobility_.position(node, now);
        left_ = std::min(left_, place.x);
        right = std::max(right, place.x);
        bottom_ = std::min(bottom_, place.y);
        top = std::max(top, place.y);
    }
    const double top_speed = mobility_.top_speed();
    const double margin = sense_ * slack;
    valid_until_ = top_speed > 0 ? now + from_seconds(margin / top_speed) : never;
    reach_ = sense_ + rounding + (top_speed > 0 ? margin : 0);
    // Never more than a few cells per node, however far apart they are.
    const double widest = std::max(right - left_, top - bottom_);
    cell_ = std::max({reach_ / fineness, 1e-3, widest / (2 * std::sqrt(static_cast<double>(nodes)) + 1)});
    columns_ = static_cast<std::size_t>((right - left_) / cell_) + 1;
    rows_ = static_cast<std::size_t>((top - bottom_) / cell_) + 1;

    const auto cell_of = [this](Point place) { return row_of(place.y) * columns_ + column_of(place.x); };
    cell_starts_.assign(columns_ * rows_ + 1, 0);
    for (const Point place : places) ++cell_starts_[cell_of(place) + 1];
    for (std::size_t cell = 1; cell < cell_starts_.size(); ++cell) cell_starts_[cell] += cell_starts_[cell - 1];
    walkers_.resize(nodes);
    place_of_.resize(nodes);
    leg_ends_.clear();
    std::vector<std::uint32_t> next(cell_starts_.begin(), cell_starts_.end() - 1);
    for (NodeId node = 0; node < nodes; ++node) {
        place_of_[node] = next[cell_of(places[node])]++;
        place(node, place_of_[node]);
        const Time end = mobility_.leg(node).end;
        if (end != never) leg_ends_.emplace_back(end, node);
    }
    std::make_heap(leg_ends_.begin(), leg_ends_.end(), std::greater<>());
    found_.resize(nodes + 1);
    outside_.resize(nodes + 1);
    moved_ = top_speed > 0 ? margin : 0;
    surroundings_.resize(nodes <= most_with_surroundings ? nodes : 0);
    for (Surroundings& around : surroundings_) around.asked = false;
    ways_.resize(nodes);
    powers_.resize(nodes);
}

// Nodes whose leg is over are on their next.
void SpatialIndex::follow_legs(Time now) {
    while (!leg_ends_.empty() && leg_ends_.front().first <= now) {
        std::pop_heap(leg_ends_.begin(), leg_ends_.end(), std::greater<>());
        const NodeId node = leg_ends_.back().second;
        leg_ends_.pop_back();
        mobility_.position(node, now);
        place(node, place_of_[node]);
        const Time end = mobility_.leg(node).end;
        if (end == never) continue;
        leg_ends_.emplace_back(end, node);
        std::push_heap(leg_ends_.begin(), leg_ends_.end(), std::greater<>());
    }
}

void SpatialIndex::receivers(NodeId source, Time now, std::vector<Reception>& out) {
    if (now >= valid_until_) survey(now);
    follow_legs(now);
    const Point here = mobility_.position(source, now);
    if (keep_surroundings(source, here, now)) {
        Surroundings& around = surroundings_[source];
        scan_surroundings(around, here, now);
        measure();
        out.resize(count_);
        for (std::size_t i = 0; i < count_; ++i) out[i] = Reception{found_[i].node, round_up(ways_[i]), powers_[i]};
        sort_almost_sorted(out);
        for (std::size_t i = 0; i < count_; ++i) around.places[i] = place_of_[out[i].node];
        std::copy_n(outside_.begin(), around.places.size() - count_, around.places.begin() + static_cast<std::ptrdiff_t>(count_));
        return;
    }
    scan_cells(here, now, &walkers_[place_of_[source]], sense_ * sense_);
    if (channel_ != nullptr) {
        ask_channel(source, here, now);
        for (std::size_t i = 0; i < count_; ++i) ways_[i] = std::sqrt(found_[i].squared) * (ticks_per_second / light);
    } else {
        measure();
    }
    sort_by_distance(out);
}

// Find the nodes within a distance, whose square is given, in the order of their cells.
void SpatialIndex::scan_cells(Point here, Time now, const MovingNode* self, double limit) {
    const double moment = static_cast<double>(now);
    const double reach = std::max(reach_, std::sqrt(limit) + moved_ + rounding);
    Candidate* found = found_.data();
    const std::size_t top = row_of(here.y + reach);
    for (std::size_t row = row_of(here.y - reach); row <= top; ++row) {
        // The distance of the row at its nearest gives the part of it that is within reach.
        const double low = bottom_ + static_cast<double>(row) * cell_;
        const double away = std::max({0.0, low - here.y - rounding, here.y - (low + cell_) - rounding});
        const double half = std::sqrt(std::max(0.0, reach * reach - away * away));
        const std::size_t begin = row * columns_ + column_of(here.x - half);
        const std::size_t end = row * columns_ + column_of(here.x + half) + 1;
        const MovingNode* const last = walkers_.data() + cell_starts_[end];
        for (const MovingNode* walker = walkers_.data() + cell_starts_[begin]; walker != last; ++walker) {
            const double passed = moment - walker->start;
            const double dx = walker->x + walker->vx * passed - here.x;
            const double dy = walker->y + walker->vy * passed - here.y;
            // Written whether it counts or not: cheaper than a branch that goes either way.
            *found = {dx * dx + dy * dy, walker->node};
            found += static_cast<std::size_t>((found->squared <= limit) & (walker != self));
        }
    }
    count_ = static_cast<std::size_t>(found - found_.data());
}

// Whether the surroundings of a source are known. They are found when it sends again before the next survey: nodes that
// exchange unicast frames send several within milliseconds, those that broadcast seldom do.
bool SpatialIndex::keep_surroundings(NodeId source, Point here, Time now) {
    if (channel_ != nullptr || surroundings_.empty()) return false;
    Surroundings& around = surroundings_[source];
    if (!around.asked) {
        around.asked = true;
        around.places.clear();
        return false;
    }
    if (!around.places.empty()) return true;
    // Until the next survey two nodes approach each other by no more than both may move.
    const double limit = sense_ + 2 * moved_ + rounding;
    scan_cells(here, now, &walkers_[place_of_[source]], limit * limit);
    for (std::size_t i = 0; i < count_; ++i) around.places.push_back(place_of_[found_[i].node]);
    if (around.places.empty()) return false;
    std::sort(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(count_), [](const Candidate& a, const Candidate& b) { return a.squared < b.squared; });
    for (std::size_t i = 0; i < count_; ++i) around.places[i] = place_of_[found_[i].node];
    return true;
}

void SpatialIndex::scan_surroundings(Surroundings& around, Point here, Time now) {
    const double moment = static_cast<double>(now);
    const double limit = sense_ * sense_;
    Candidate* found = found_.data();
    std::uint32_t* outside = outside_.data();
    for (const std::uint32_t place : around.places) {
        const MovingNode& walker = walkers_[place];
        const double passed = moment - walker.start;
        const double dx = walker.x + walker.vx * passed - here.x;
        const double dy = walker.y + walker.vy * passed - here.y;
        *found = {dx * dx + dy * dy, walker.node};
        *outside = place;
        const bool senses = found->squared <= limit;
        found += static_cast<std::size_t>(senses);
        outside += static_cast<std::size_t>(!senses);
    }
    count_ = static_cast<std::size_t>(found - found_.data());
}

// Give the nodes found their powers and delays, in the order in which they were found.
void SpatialIndex::measure() {
    for (std::size_t i = 0; i < count_; ++i) {
        const double power = radio_.received(found_[i].squared);
        powers_[i] = radio_.decodable(found_[i].squared) ? power : -power;
    }
    for (std::size_t i = 0; i < count_; ++i) ways_[i] = std::sqrt(found_[i].squared) * (ticks_per_second / light);
}

// Keep the nodes found that the signal reaches, each with its power.
void SpatialIndex::ask_channel(NodeId source, Point here, Time now) {
    const Channel::Source from = channel_->source(mobility_.number(source), here, now);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        const Candidate found = found_[i];
        const Point there = mobility_.position(found.node, now);
        const double power = channel_->power(from, mobility_.number(found.node), there, found.squared);
        found_[kept] = found;
        powers_[kept] = power;
        kept += static_cast<std::size_t>(power != 0);
    }
    count_ = kept;
}

bool SpatialIndex::before(const Reception& a, const Reception& b) const {
    return a.delay != b.delay ? a.delay < b.delay : mobility_.number(a.node) < mobility_.number(b.node);
}

// Nodes are spread evenly over areas, so squares of distances are, too: with more classes of them than nodes,
// most have one or none, and little is left to sort by comparing.
void SpatialIndex::sort_by_distance(std::vector<Reception>& out) {
    const std::size_t classes = 2 * count_;
    next_.assign(classes + 2, 0);
    const double scale = static_cast<double>(classes) / (sense_ * sense_);
    const auto class_of = [scale](const Candidate& found) { return static_cast<std::size_t>(static_cast<std::int32_t>(found.squared * scale)); };
    for (std::size_t i = 0; i < count_; ++i) ++next_[class_of(found_[i]) + 1];
    for (std::size_t c = 1; c < next_.size(); ++c) next_[c] += next_[c - 1];
    out.resize(count_);
    for (std::size_t i = 0; i < count_; ++i) {
        out[next_[class_of(found_[i])]++] = Reception{found_[i].node, round_up(ways_[i]), powers_[i]};
    }
    sort_almost_sorted(out);
}

void SpatialIndex::sort_almost_sorted(std::vector<Reception>& out) const {
    for (std::size_t i = 1; i < count_; ++i) {
        if (out[i - 1].delay < out[i].delay || before(out[i - 1], out[i])) continue;
        const Reception reception = out[i];
        std::size_t hole = i;
        for (; hole > 0 && before(reception, out[hole - 1]); --hole) out[hole] = out[hole - 1];
        out[hole] = reception;
    }
}

}  // namespace roamcast
