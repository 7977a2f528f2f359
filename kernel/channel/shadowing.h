// Log-normal shadowing: the loss of a link by what stands between its ends, as a function of their positions.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "channel/table.h"
#include "world/mobility.h"

namespace roamcast {

struct ShadowingParameters {
    double sigma = 0;         // dB
    double correlation = 20;  // m: moving an end by this much leaves 1/e of the correlation
    double width = 1000;      // m, of the area
    double height = 1000;
};

// Random lines divide the plane into cells. A Poisson number of lines with a mean of d / correlation crosses any
// stretch of length d, so two positions share a cell with probability exp(-d / correlation): Gudmundson's
// correlation. A pair of cells has one normal number, and a link has the one of its ends' cells, in either direction.
// The sum over several independent divisions has smaller steps and the same correlation.
class Shadowing {
public:
    static constexpr std::size_t layers = 4;

    // In standard deviations; the sum is clipped there, so that the distance at which a frame can be sensed is bounded.
    static constexpr double most = 3;

    using Cells = std::array<std::uint64_t, layers>;

    Shadowing(const ShadowingParameters& parameters, std::uint64_t seed);

    // The cells in which a position lies, one of each division.
    Cells cells(Point place) const;

    // The gain of a link between positions in these cells.
    double gain(const Cells& one, const Cells& other) const;

    double most_gain() const { return most_gain_; }

private:
    struct Line {
        double nx, ny;         // normal
        double offset;         // along it
        std::uint64_t number;  // random: a cell is the exclusive or over the lines that it lies beyond
    };

    // The division is looked up by squares of the area: what all of a square lies beyond, and the lines that cross it.
    struct Layer {
        std::vector<Line> lines;  // by square
        std::vector<std::uint32_t> starts;
        std::vector<std::uint64_t> beyond;
    };

    Layer divide(const ShadowingParameters& parameters, std::uint64_t seed, std::size_t layer) const;

    double side_;  // m, of a square
    std::size_t columns_;
    std::size_t rows_;
    std::array<Layer, layers> layers_;
    const LogTable& normal_;
    EvenTable gain_;
    double most_gain_;
};

}  // namespace roamcast
