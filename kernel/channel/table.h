// Functions by table: quick, and with the same bits on every machine, because the values are rounded to single precision
// where the last bits of a mathematical library may differ.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace roamcast {

// A function of a positive number, linear between 64 nodes per octave; constant outside its octaves.
class LogTable {
public:
    LogTable() = default;

    // Tabulate `function` from 2^first to 2^last.
    template <typename Function>
    LogTable(int first, int last, Function function) : base_(static_cast<std::int64_t>(first + 1023) << bits) {
        const std::int64_t nodes = static_cast<std::int64_t>(last - first) << bits;
        values_.reserve(static_cast<std::size_t>(nodes) + 2);
        for (std::int64_t node = 0; node <= nodes; ++node) {
            const double at = std::bit_cast<double>(static_cast<std::uint64_t>(base_ + node) << shift);
            values_.push_back(static_cast<double>(static_cast<float>(function(at))));
        }
        values_.push_back(values_.back());
        last_ = static_cast<std::int64_t>(values_.size()) - 2;
    }

    double operator()(double x) const {
        const auto word = std::bit_cast<std::uint64_t>(x);
        const std::int64_t node = static_cast<std::int64_t>(word >> shift) - base_;
        if (node < 0) return values_.front();
        if (node >= last_) return values_[static_cast<std::size_t>(last_)];
        const double part = static_cast<double>(word & ((1ULL << shift) - 1)) * (1.0 / static_cast<double>(1ULL << shift));
        const double* const value = values_.data() + node;
        return value[0] + (value[1] - value[0]) * part;
    }

private:
    static constexpr int bits = 6;
    static constexpr int shift = 52 - bits;

    std::int64_t base_ = 0;
    std::int64_t last_ = 0;
    std::vector<double> values_;
};

// A function of a number between two bounds, linear between evenly spaced nodes; constant outside the bounds.
class EvenTable {
public:
    EvenTable() = default;

    template <typename Function>
    EvenTable(double low, double high, std::size_t steps, Function function)
        : low_(low), most_(static_cast<double>(steps)), scale_(most_ / (high - low)) {
        for (std::size_t node = 0; node <= steps; ++node) {
            const double at = low + (high - low) * static_cast<double>(node) / most_;
            values_.push_back(static_cast<double>(static_cast<float>(function(at))));
        }
        values_.push_back(values_.back());
    }

    double operator()(double x) const {
        const double place = std::min(most_, std::max(0.0, (x - low_) * scale_));
        const auto node = static_cast<std::size_t>(static_cast<std::int64_t>(place));
        return values_[node] + (values_[node + 1] - values_[node]) * (place - static_cast<double>(node));
    }

private:
    double low_ = 0;
    double most_ = 0;
    double scale_ = 1;
    std::vector<double> values_;
};

// Find where an increasing function reaches a value between two bounds.
template <typename Function>
double invert(Function increasing, double value, double low, double high) {
    for (int step = 0; step < 200 && high - low > 1e-12 * std::abs(high); ++step) {
        const double middle = (low + high) / 2;
        (increasing(middle) < value ? low : high) = middle;
    }
    return high;
}

}  // namespace roamcast
