#include "channel/fading.h"

#include <cmath>

namespace roamcast {

namespace {

// Octaves of probability that the tables have: a rarer gain counts as the rarest.
constexpr int octaves = 32;

// The probability that a gamma variate of shape m and scale 1 is below x: a power series for small x, a continued
// fraction (of the complement, by Lentz's method) for large x.
double below(double m, double x) {
    const double factor = std::exp(m * std::log(x) - x - std::lgamma(m));
    if (x < m + 1) {
        double term = 1 / m;
        double sum = term;
        for (int n = 1; n < 1000 && term > sum * 1e-16; ++n) sum += term *= x / (m + n);
        return sum * factor;
    }
    double b = x + 1 - m;
    double c = 1e300;
    double d = 1 / b;
    double h = d;
    for (int n = 1; n < 1000; ++n) {
        const double a = -n * (n - m);
        b += 2;
        d = 1 / (a * d + b);
        c = b + a / c;
        h *= d * c;
        if (std::abs(d * c - 1) < 1e-15) break;
    }
    return 1 - factor * h;
}

// The gain that is exceeded with a probability of 1 - p, or of p if `above`.
double quantile(double m, double p, bool above) {
    const auto probability = [m, above](double gain) { return above ? below(m, m * gain) - 1 : below(m, m * gain); };
    return invert(probability, above ? -p : p, 0, Fading::most);
}

}  // namespace

Fading::Fading(double m, std::uint64_t seed)
    : seed_(mix(seed, static_cast<std::uint64_t>(Purpose::Fading), 0)),
      low_(-octaves, 0, [m](double p) { return quantile(m, p, false); }),
      high_(-octaves, 0, [m](double p) { return quantile(m, p, true); }) {}

}  // namespace roamcast
