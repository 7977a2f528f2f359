#include "channel/shadowing.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "world/random.h"

namespace roamcast {

namespace {

constexpr std::size_t most_squares = 1 << 16;
constexpr int octaves = 40;

// Normal variates: by the probability of less, up to one half.
const LogTable& normal_table() {
    static const LogTable table(-octaves, -1, [](double p) {
        const auto below = [](double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; };
        return invert(below, p, -8, 0);
    });
    return table;
}

}  // namespace

Shadowing::Shadowing(const ShadowingParameters& p, std::uint64_t seed)
    : side_(std::max(p.correlation, std::sqrt(p.width * p.height / static_cast<double>(most_squares)))),
      columns_(static_cast<std::size_t>(p.width / side_) + 1),
      rows_(static_cast<std::size_t>(p.height / side_) + 1),
      normal_(normal_table()),
      gain_(-most, most, 1024, [&p](double x) { return std::pow(10, p.sigma * x / 10); }),
      most_gain_(std::pow(10, p.sigma * most / 10)) {
    for (std::size_t layer = 0; layer < layers; ++layer) layers_[layer] = divide(p, seed, layer);
}

// Isotropic lines that meet the circle around the area: a direction and a distance from the centre, both uniform.
Shadowing::Layer Shadowing::divide(const ShadowingParameters& p, std::uint64_t seed, std::size_t layer) const {
    Random random(seed, Purpose::Shadowing, layer);
    const double x = static_cast<double>(columns_) * side_ / 2;
    const double y = static_cast<double>(rows_) * side_ / 2;
    const double radius = std::hypot(x, y);
    std::vector<Line> lines;
    // A convex body of perimeter u is met by u / 2 / correlation lines on average; intervals between them are exponential.
    const double density = std::numbers::pi * radius / p.correlation;
    for (double place = 0;;) {
        place -= std::log(1 - random.uniform()) / density;
        if (place >= 1) break;
        const double angle = 2 * std::numbers::pi * random.uniform();
        const double nx = static_cast<double>(static_cast<float>(std::cos(angle)));
        const double ny = static_cast<double>(static_cast<float>(std::sin(angle)));
        lines.push_back({nx, ny, nx * x + ny * y + place * radius, random.next()});
    }
    Layer result;
    result.starts.push_back(0);
    const double half = side_ * (std::numbers::sqrt2 / 2 + 1e-6);
    for (std::size_t row = 0; row < rows_; ++row) {
        for (std::size_t column = 0; column < columns_; ++column) {
            const double cx = (static_cast<double>(column) + 0.5) * side_;
            const double cy = (static_cast<double>(row) + 0.5) * side_;
            std::uint64_t beyond = mix(seed, layer, 0);
            for (const Line& line : lines) {
                const double distance = line.nx * cx + line.ny * cy - line.offset;
                if (std::abs(distance) <= half) {
                    result.lines.push_back(line);
                } else if (distance > 0) {
                    beyond ^= line.number;
                }
            }
            result.beyond.push_back(beyond);
            result.starts.push_back(static_cast<std::uint32_t>(result.lines.size()));
        }
    }
    return result;
}

Shadowing::Cells Shadowing::cells(Point place) const {
    const auto index = [](double at, double side, std::size_t count) {
        return std::min(count - 1, static_cast<std::size_t>(std::max(0.0, at / side)));
    };
    const std::size_t square = index(place.y, side_, rows_) * columns_ + index(place.x, side_, columns_);
    Cells found;
    for (std::size_t layer = 0; layer < layers; ++layer) {
        const Layer& division = layers_[layer];
        std::uint64_t cell = division.beyond[square];
        const Line* const last = division.lines.data() + division.starts[square + 1];
        for (const Line* line = division.lines.data() + division.starts[square]; line != last; ++line) {
            const bool beyond = line->nx * place.x + line->ny * place.y > line->offset;
            cell ^= line->number & (0 - static_cast<std::uint64_t>(beyond));
        }
        found[layer] = cell;
    }
    return found;
}

double Shadowing::gain(const Cells& one, const Cells& other) const {
    static_assert(layers == 4);
    constexpr double scale = 0.5;  // of a sum of four standard normal numbers
    double sum = 0;
    for (std::size_t layer = 0; layer < layers; ++layer) {
        const std::uint64_t low = std::min(one[layer], other[layer]);
        const double chance = uniform(mix(low, std::max(one[layer], other[layer]), layer));
        sum += chance < 0.5 ? normal_(chance) : -normal_(1 - chance);
    }
    return gain_(sum * scale);
}

}  // namespace roamcast
