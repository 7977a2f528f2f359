#include "world/radio.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace roamcast {

namespace {

constexpr double light = 3e8;  // m/s, as ns-2 has it

// How much farther than the carrier-sense range candidates are sought, so that they stay valid while
// nodes move. More of it means rarer surveys and more distances taken in vain.
constexpr double slack = 0.1;

// Cells per reach: smaller cells follow the circle more closely and are more to visit.
constexpr int fineness = 2;

}  // namespace

Radio::Radio(const RadioParameters& p)
    : power_(p.power),
      range_squared_(p.range * p.range),
      sense_squared_(p.carrier_sense * p.carrier_sense),
      carrier_sense_(p.carrier_sense),
      capture_(p.capture) {
    const double wave = light / p.frequency;
    const double height = p.antenna_height * p.antenna_height;
    friis_ = p.power * wave * wave / (16 * std::numbers::pi * std::numbers::pi);
    two_ray_ = p.power * height * height;
    const double crossover = 4 * std::numbers::pi * height / wave;
    crossover_squared_ =
        p.propagation == Propagation::Friis ? std::numeric_limits<double>::infinity() : crossover * crossover;
}

void Surroundings::survey(Time now) {
    const std::size_t nodes = mobility_.size();
    places_.resize(nodes);
    candidates_.resize(nodes);
    double right = -std::numeric_limits<double>::infinity();
    double top = right;
    left_ = bottom_ = std::numeric_limits<double>::infinity();
    for (NodeId node = 0; node < nodes; ++node) {
        const Point place = mobility_.position(node, now);
        places_[node] = place;
        left_ = std::min(left_, place.x);
        right = std::max(right, place.x);
        bottom_ = std::min(bottom_, place.y);
        top = std::max(top, place.y);
    }
    const double top_speed = mobility_.top_speed();
    const double margin = radio_.carrier_sense() * slack;
    surveyed_ = now;
    // Two nodes close in on each other by at most twice the top speed.
    valid_until_ = top_speed > 0 ? now + from_seconds(margin / (2 * top_speed)) : never;
    reach_ = radio_.carrier_sense() + (top_speed > 0 ? margin : 0);
    // Never more than a few cells per node, however far apart they are.
    const double widest = std::max(right - left_, top - bottom_);
    cell_ = std::max({reach_ / fineness, 1e-3, widest / (2 * std::sqrt(static_cast<double>(nodes)) + 1)});
    columns_ = static_cast<std::size_t>((right - left_) / cell_) + 1;
    rows_ = static_cast<std::size_t>((top - bottom_) / cell_) + 1;

    const auto cell_of = [this](Point place) {
        const auto column = static_cast<std::size_t>((place.x - left_) / cell_);
        const auto row = static_cast<std::size_t>((place.y - bottom_) / cell_);
        return row * columns_ + column;
    };
    cell_starts_.assign(columns_ * rows_ + 1, 0);
    for (const Point place : places_) ++cell_starts_[cell_of(place) + 1];
    for (std::size_t cell = 1; cell < cell_starts_.size(); ++cell) cell_starts_[cell] += cell_starts_[cell - 1];
    cell_nodes_.resize(nodes);
    std::vector<std::uint32_t> next(cell_starts_.begin(), cell_starts_.end() - 1);
    for (NodeId node = 0; node < nodes; ++node) cell_nodes_[next[cell_of(places_[node])]++] = node;
}

void Surroundings::gather(NodeId source, Candidates& candidates) {
    candidates.survey = surveyed_;
    candidates.nodes.clear();
    const Point here = places_[source];
    const auto column = static_cast<std::size_t>((here.x - left_) / cell_);
    const auto row = static_cast<std::size_t>((here.y - bottom_) / cell_);
    const std::size_t around = fineness;
    for (std::size_t r = row > around ? row - around : 0; r < std::min(rows_, row + around + 1); ++r) {
        for (std::size_t c = column > around ? column - around : 0; c < std::min(columns_, column + around + 1); ++c) {
            const std::size_t cell = r * columns_ + c;
            for (std::uint32_t i = cell_starts_[cell]; i < cell_starts_[cell + 1]; ++i) {
                const NodeId node = cell_nodes_[i];
                const double dx = places_[node].x - here.x;
                const double dy = places_[node].y - here.y;
                if (node != source && dx * dx + dy * dy <= reach_ * reach_) candidates.nodes.push_back(node);
            }
        }
    }
    const auto squared_distance = [this, here](NodeId node) {
        const double dx = places_[node].x - here.x;
        const double dy = places_[node].y - here.y;
        return dx * dx + dy * dy;
    };
    std::sort(candidates.nodes.begin(), candidates.nodes.end(), [&](NodeId a, NodeId b) {
        const double near = squared_distance(a);
        const double far = squared_distance(b);
        return near != far ? near < far : a < b;
    });
}

void Surroundings::receivers(NodeId source, Time now, std::vector<Reception>& out) {
    if (surveyed_ < 0 || now >= valid_until_) survey(now);
    Candidates& candidates = candidates_[source];
    if (candidates.survey != surveyed_) gather(source, candidates);

    const Point here = mobility_.position(source, now);
    out.clear();
    beyond_.clear();
    for (const NodeId node : candidates.nodes) {
        const Point there = mobility_.position(node, now);
        const double dx = there.x - here.x;
        const double dy = there.y - here.y;
        const double squared = dx * dx + dy * dy;
        if (!radio_.sensed(squared)) {
            beyond_.push_back(node);
            continue;
        }
        const double power = radio_.received(squared);
        // Rounded up, no detour is ever shorter than the straight way; else a station would hear another's slot
        // begin a nanosecond before its own, and lose it.
        const auto delay = static_cast<std::uint32_t>(std::ceil(std::sqrt(squared) * (1e9 / light)));
        const Reception reception{node, delay, radio_.decodable(squared) ? power : -power};
        // The candidates come in the order of last time, so this insertion hardly moves anything.
        // Ties go by node, so that the order does not depend on the past.
        std::size_t hole = out.size();
        out.push_back(reception);
        while (hole > 0 && (out[hole - 1].delay > delay || (out[hole - 1].delay == delay && out[hole - 1].node > node))) {
            out[hole] = out[hole - 1];
            --hole;
        }
        out[hole] = reception;
    }
    auto place = candidates.nodes.begin();
    for (const Reception& reception : out) *place++ = reception.node;
    std::copy(beyond_.begin(), beyond_.end(), place);
}

}  // namespace roamcast
