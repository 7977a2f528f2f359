// Obstacles: buildings that weaken the signals that pass through them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "channel/table.h"
#include "world/mobility.h"

namespace roamcast {

// A polygon, with holes as further rings.
struct Obstacle {
    std::vector<std::vector<Point>> rings;
    double wall = 0;    // dB for each edge that a signal crosses
    double inside = 0;  // dB for each metre between the edges
};

// Polygons are found by a grid of their bounding boxes, row by row along the line between two positions.
class Obstacles {
public:
    explicit Obstacles(std::vector<Obstacle> obstacles);

    // The loss of a link, in dB.
    double loss(Point from, Point to) const;

    double gain(Point from, Point to) const { return gain_(loss(from, to)); }

private:
    struct Edge {
        Point from, to;
    };

    struct Polygon {
        std::vector<Edge> edges;
        double wall, inside;
    };

    double pass(const Polygon& polygon, Point from, Point to) const;
    std::size_t column(double x) const;
    std::size_t row(double y) const;

    std::vector<Polygon> polygons_;
    double left_ = 0, bottom_ = 0, cell_ = 1;
    std::size_t columns_ = 1, rows_ = 1;
    std::vector<std::vector<std::uint32_t>> cells_;  // polygons, by cell
    EvenTable gain_;

    // Scratch of loss().
    mutable std::vector<std::uint64_t> seen_;  // by polygon: the last link that looked at it
    mutable std::uint64_t link_ = 0;
    mutable std::vector<double> crossings_;
};

}  // namespace roamcast
