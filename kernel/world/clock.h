// Time is a whole number of nanoseconds, so that sums of times are exact.
#pragma once

#include <cmath>
#include <cstdint>

namespace roamcast {

using Time = std::int64_t;

constexpr Time never = INT64_MAX;

inline Time from_seconds(double seconds) { return static_cast<Time>(std::llround(seconds * 1e9)); }

// Rounded up: a timer for a moment must not fire before it, or a router that compares times would set
// it again and again without the clock moving.
inline Time at_least_seconds(double seconds) { return static_cast<Time>(std::ceil(seconds * 1e9)); }

inline double to_seconds(Time time) { return static_cast<double>(time) * 1e-9; }

}  // namespace roamcast
