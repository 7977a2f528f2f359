#include "channel/error_rate.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace roamcast {

namespace {

// Number of wrong information bits over all paths of a weight: from the free distance on, ten weights or nine.
struct Spectrum {
    int first;   // weight
    int step;    // to the next
    double bits; // that a step of the punctured code decodes
    std::array<double, 10> wrong;
};

constexpr Spectrum spectra[] = {
    {10, 2, 1, {36, 211, 1404, 11633, 77433, 502690, 3322763, 21292910, 134365911, 0}},
    {6, 1, 2, {3, 70, 285, 1276, 6160, 27128, 117019, 498860, 2103891, 8784123}},
    {5, 1, 3, {42, 201, 1492, 10469, 62935, 379644, 2253373, 13073811, 75152755, 428005675}},
    {4, 1, 5, {92, 528, 8694, 79453, 792114, 7375573, 67884974, 610875423, 5427275376, 47664215639}},
};

// The probability that a bit is wrong before decoding.
double raw_error_rate(Modulation modulation, double snr) {
    switch (modulation) {
        case Modulation::Bpsk: return std::erfc(std::sqrt(snr)) / 2;
        case Modulation::Qpsk: return std::erfc(std::sqrt(snr / 2)) / 2;
        case Modulation::Qam16: return std::erfc(std::sqrt(snr / 10)) * 3 / 8;
        case Modulation::Qam64: return std::erfc(std::sqrt(snr / 42)) * 7 / 24;
    }
    return 1;
}

}  // namespace

double bit_error_rate(Modulation modulation, CodeRate code, double snr) {
    const double raw = raw_error_rate(modulation, snr);
    const double d = std::sqrt(4 * raw * (1 - raw));
    const Spectrum& spectrum = spectra[static_cast<std::size_t>(code)];
    double sum = 0;
    for (std::size_t i = 0; i < spectrum.wrong.size(); ++i) {
        sum += spectrum.wrong[i] * std::pow(d, spectrum.first + static_cast<int>(i) * spectrum.step);
    }
    return std::min(1.0, sum / (2 * spectrum.bits));
}

double success_rate(Modulation modulation, CodeRate code, double snr, double bits) {
    return std::exp(bits * std::log1p(-bit_error_rate(modulation, code, snr)));
}

}  // namespace roamcast
