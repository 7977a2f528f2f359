#include "channel/sinr.h"

#include <algorithm>
#include <cmath>

namespace roamcast {

ErrorTable::ErrorTable(const OfdmMode& mode, Time symbol)
    : per_tick_(static_cast<double>(mode.bits) / static_cast<double>(symbol)),
      per_bit_(-10, 16, [&mode](double ratio) {
          // A bit that is surely wrong would be infinitely many expected errors.
          return -std::log1p(-std::min(0.999, bit_error_rate(mode.modulation, mode.code, ratio)));
      }) {}

void SinrReceiver::advance(Time now, double noise) {
    while (!others_.empty()) {
        auto first = others_.begin();
        for (auto other = first + 1; other != others_.end(); ++other) {
            if (other->end < first->end) first = other;
        }
        if (first->end > now) break;
        if (locked != nothing) integrate(first->end, noise);
        *first = others_.back();
        others_.pop_back();
    }
    if (locked != nothing) integrate(now, noise);
}

}  // namespace roamcast
