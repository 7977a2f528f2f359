// Time is a whole number of picoseconds, so that sums of times are exact, and so that a step towards a sender is seen:
// a nanosecond of light is 30 cm, and stations that counted the same slots would tie where they need not.
#pragma once

#include <cmath>
#include <cstdint>

namespace roamcast {

using Time = std::int64_t;

constexpr Time never = INT64_MAX;

constexpr double ticks_per_second = 1e12;

// 46 days: the sum of two such times is still one. Longer durations end after every run.
constexpr double longest_seconds = 4e6;

inline Time from_seconds(double seconds) {
    return static_cast<Time>(std::llround(std::fmin(seconds, longest_seconds) * ticks_per_second));
}

inline double to_seconds(Time time) { return static_cast<double>(time) / ticks_per_second; }

// Rounded up: a timer for a moment must not fire before it, or a router that compares times would set
// it again and again without the clock moving.
inline Time at_least_seconds(double seconds) {
    return static_cast<Time>(std::ceil(std::fmin(seconds, longest_seconds) * ticks_per_second));
}

}  // namespace roamcast
