// Reception by signal-to-interference-and-noise ratio: the state of one receiver, and the error tables.
#pragma once

#include <cstdint>
#include <vector>

#include "channel/ofdm.h"
#include "channel/table.h"

namespace roamcast {

struct SinrParameters {
    double noise = 1e-13;   // W over the bandwidth, with the noise figure
    double preamble = 2.5;  // ratio from which on a preamble is detected
};

// Expected errors of a mode: -log of the probability that a picosecond of payload is right, by the ratio.
class ErrorTable {
public:
    ErrorTable(const OfdmMode& mode, Time symbol);
    double operator()(double ratio) const { return per_tick_ * per_bit_(ratio); }

private:
    double per_tick_;
    LogTable per_bit_;
};

// The signals at one receiver. Signals other than the locked one are interference; those that have ended
// are removed when the receiver is next looked at, in the order of their ends.
class SinrReceiver {
public:
    static constexpr std::uint32_t nothing = UINT32_MAX;

    std::uint32_t locked = nothing;  // the frame being received

    // Bring interference and expected errors up to now.
    void advance(Time now, double noise);

    void interfere(Time end, double power) {
        others_.push_back({end, power});
        interfered_ = true;
    }

    // W of the signals that are there, without the locked one.
    double interference() const {
        double sum = 0;
        for (const Signal& other : others_) sum += other.power;
        return sum;
    }

    // Receive a frame from now on; its payload begins at a later time.
    void lock(std::uint32_t frame, double power, Time payload, const ErrorTable& errors) {
        locked = frame;
        power_ = power;
        since_ = payload;
        errors_ = &errors;
        expected_ = 0;
        interfered_ = !others_.empty();
    }

    double expected_errors() const { return expected_; }
    bool interfered() const { return interfered_; }

private:
    struct Signal {
        Time end;
        double power;
    };

    void integrate(Time until, double noise) {
        if (until <= since_) return;
        expected_ += static_cast<double>(until - since_) * (*errors_)(power_ / (noise + interference()));
        since_ = until;
    }

    const ErrorTable* errors_ = nullptr;
    Time since_ = 0;
    double power_ = 0;
    double expected_ = 0;
    bool interfered_ = false;
    std::vector<Signal> others_;
};

// Parameters and tables of all receivers.
struct SinrModel {
    SinrModel(const SinrParameters& parameters, const OfdmParameters& ofdm)
        : noise(parameters.noise),
          preamble(parameters.preamble),
          unicast(ofdm.unicast, ofdm.symbol),
          basic(ofdm.basic, ofdm.symbol) {}

    double noise;
    double preamble;
    ErrorTable unicast;
    ErrorTable basic;
    std::vector<SinrReceiver> receivers{};
};

}  // namespace roamcast
