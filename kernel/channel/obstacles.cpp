#include "channel/obstacles.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace roamcast {

namespace {

constexpr double most_loss = 300;  // dB; more changes nothing
constexpr double cells_per_side = 64;
constexpr double rounding = 1e-6;  // m

double cross(Point a, Point b) { return a.x * b.y - a.y * b.x; }
Point difference(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }

}  // namespace

Obstacles::Obstacles(std::vector<Obstacle> obstacles)
    : gain_(0, most_loss, 4096, [](double loss) { return std::pow(10, -loss / 10); }), seen_(obstacles.size(), 0) {
    constexpr double far = std::numeric_limits<double>::infinity();
    struct Box {
        Point low{far, far}, high{-far, -far};
        void add(Point p) {
            low = {std::min(low.x, p.x), std::min(low.y, p.y)};
            high = {std::max(high.x, p.x), std::max(high.y, p.y)};
        }
    };
    std::vector<Box> boxes;
    Box all;
    for (const Obstacle& obstacle : obstacles) {
        Polygon polygon{{}, obstacle.wall, obstacle.inside};
        Box box;
        for (const std::vector<Point>& ring : obstacle.rings) {
            for (std::size_t i = 0; i < ring.size(); ++i) {
                polygon.edges.push_back({ring[i], ring[(i + 1) % ring.size()]});
                box.add(ring[i]);
                all.add(ring[i]);
            }
        }
        polygons_.push_back(std::move(polygon));
        boxes.push_back(box);
    }
    if (polygons_.empty()) return;
    left_ = all.low.x;
    bottom_ = all.low.y;
    cell_ = std::max({(all.high.x - left_) / cells_per_side, (all.high.y - bottom_) / cells_per_side, 1e-3});
    columns_ = static_cast<std::size_t>((all.high.x - left_) / cell_) + 1;
    rows_ = static_cast<std::size_t>((all.high.y - bottom_) / cell_) + 1;
    cells_.resize(columns_ * rows_);
    for (std::uint32_t number = 0; number < boxes.size(); ++number) {
        const Box& box = boxes[number];
        for (std::size_t r = row(box.low.y - rounding); r <= row(box.high.y + rounding); ++r) {
            for (std::size_t c = column(box.low.x - rounding); c <= column(box.high.x + rounding); ++c) {
                cells_[r * columns_ + c].push_back(number);
            }
        }
    }
}

std::size_t Obstacles::column(double x) const {
    return std::min(columns_ - 1, static_cast<std::size_t>(std::max(0.0, (x - left_) / cell_)));
}

std::size_t Obstacles::row(double y) const {
    return std::min(rows_ - 1, static_cast<std::size_t>(std::max(0.0, (y - bottom_) / cell_)));
}

double Obstacles::loss(Point from, Point to) const {
    if (polygons_.empty()) return 0;
    ++link_;
    double sum = 0;
    const double slope = to.y == from.y ? 0 : (to.x - from.x) / (to.y - from.y);
    const double low = std::min(from.y, to.y);
    const double high = std::max(from.y, to.y);
    const std::size_t last = row(high + rounding);
    for (std::size_t r = row(low - rounding); r <= last; ++r) {
        // The part of the line in this row; the first and the last row reach beyond the grid.
        double begin = from.x;
        double end = to.x;
        if (to.y != from.y) {
            const double floor = bottom_ + static_cast<double>(r) * cell_ - rounding;
            const double ceiling = bottom_ + static_cast<double>(r + 1) * cell_ + rounding;
            begin = from.x + slope * ((r == 0 ? low : std::clamp(floor, low, high)) - from.y);
            end = from.x + slope * ((r + 1 == rows_ ? high : std::clamp(ceiling, low, high)) - from.y);
        }
        const std::size_t right = column(std::max(begin, end) + rounding);
        for (std::size_t c = column(std::min(begin, end) - rounding); c <= right; ++c) {
            for (const std::uint32_t number : cells_[r * columns_ + c]) {
                if (seen_[number] == link_) continue;
                seen_[number] = link_;
                sum += pass(polygons_[number], from, to);
            }
        }
    }
    return sum;
}

// An edge is crossed by the line through both positions if its ends lie on different sides; a corner on the line belongs to
// one of its two edges. Beyond the start, an odd number of crossings means that it lies inside.
double Obstacles::pass(const Polygon& polygon, Point from, Point to) const {
    const Point way = difference(to, from);
    crossings_.clear();
    bool in = false;
    for (const Edge& edge : polygon.edges) {
        const Point near = difference(edge.from, from);
        const Point far = difference(edge.to, from);
        if ((cross(way, near) > 0) == (cross(way, far) > 0)) continue;
        const Point along = difference(edge.to, edge.from);
        const double at = cross(near, along) / cross(way, along);
        if (at < 0) continue;
        in = !in;
        if (at < 1) crossings_.push_back(at);
    }
    if (crossings_.empty()) return in ? polygon.inside * std::hypot(way.x, way.y) : 0;
    std::sort(crossings_.begin(), crossings_.end());
    double share = 0;
    double since = 0;
    for (const double at : crossings_) {
        if (in) share += at - since;
        since = at;
        in = !in;
    }
    if (in) share += 1 - since;
    return polygon.wall * static_cast<double>(crossings_.size()) + polygon.inside * share * std::hypot(way.x, way.y);
}

}  // namespace roamcast
