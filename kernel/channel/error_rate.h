// Bit errors of OFDM modes with convolutional coding, as in the error model that NIST published and ns-3 documents.
#pragma once

#include <cstdint>

namespace roamcast {

enum class Modulation : std::uint8_t { Bpsk, Qpsk, Qam16, Qam64 };
enum class CodeRate : std::uint8_t { Half, TwoThirds, ThreeQuarters, FiveSixths };

// The probability that a bit is wrong after decoding, at a signal-to-noise ratio: the union bound over the weight
// spectrum of the code of constraint length 7 (Frenger and others, 1999), at most 1.
double bit_error_rate(Modulation modulation, CodeRate code, double snr);

// The probability that a number of bits are all right.
double success_rate(Modulation modulation, CodeRate code, double snr, double bits);

}  // namespace roamcast
