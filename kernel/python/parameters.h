// A scenario's radio and MAC, from the dictionaries that Python gives.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "channel/channel.h"
#include "world/radio.h"
#include "world/station.h"

namespace roamcast {

namespace nb = nanobind;

inline double number(nb::dict options, const char* name) { return nb::cast<double>(options[name]); }

inline RadioParameters radio_parameters(nb::dict o) {
    RadioParameters p;
    const auto propagation = nb::cast<std::string>(o["propagation"]);
    p.propagation = propagation == "friis"          ? Propagation::Friis
                    : propagation == "log-distance" ? Propagation::LogDistance
                                                    : Propagation::TwoRay;
    if (p.propagation == Propagation::LogDistance) {
        p.exponent = number(o, "exponent");
        p.reference = number(o, "reference");
        p.reference_loss = number(o, "reference_loss");
    }
    p.power = number(o, "power");
    p.frequency = number(o, "frequency");
    p.antenna_height = number(o, "antenna_height");
    p.range = number(o, "range");
    p.carrier_sense = number(o, "carrier_sense");
    p.capture = number(o, "capture");
    return p;
}

// The options of the channel, if any is set.
inline std::optional<ChannelParameters> channel_parameters(nb::dict o) {
    if (!o.contains("channel")) return std::nullopt;
    const auto options = nb::cast<nb::dict>(o["channel"]);
    ChannelParameters p;
    if (options.contains("shadowing")) {
        const auto shadowing = nb::cast<nb::dict>(options["shadowing"]);
        p.shadowing = ShadowingParameters{number(shadowing, "sigma"), number(shadowing, "correlation"),
                                          number(shadowing, "width"), number(shadowing, "height")};
    }
    if (options.contains("obstacles")) {  // each a tuple: loss per wall [dB], loss inside [dB/m], rings
        for (nb::handle given : nb::cast<nb::list>(options["obstacles"])) {
            const auto parts = nb::cast<nb::tuple>(given);
            Obstacle obstacle{{}, nb::cast<double>(parts[0]), nb::cast<double>(parts[1])};
            for (const auto& ring : nb::cast<std::vector<std::vector<std::pair<double, double>>>>(parts[2])) {
                obstacle.rings.emplace_back();
                for (const auto& [x, y] : ring) obstacle.rings.back().push_back({x, y});
            }
            p.obstacles.push_back(std::move(obstacle));
        }
    }
    if (options.contains("sinr")) {
        const auto sinr = nb::cast<nb::dict>(options["sinr"]);
        p.sinr = SinrParameters{number(sinr, "noise"), number(sinr, "preamble")};
    }
    if (options.contains("fading")) p.fading = number(options, "fading");
    return p;
}

// A mode as a tuple: rate [b/s], data bits per symbol, preamble [s], modulation and code rate by number.
inline OfdmMode ofdm_mode(nb::handle given) {
    const auto mode = nb::cast<nb::tuple>(given);
    return {nb::cast<double>(mode[0]), nb::cast<std::uint32_t>(mode[1]), from_seconds(nb::cast<double>(mode[2])),
            static_cast<Modulation>(nb::cast<int>(mode[3])), static_cast<CodeRate>(nb::cast<int>(mode[4]))};
}

inline MacParameters mac_parameters(nb::dict o) {
    MacParameters p;
    p.rate = number(o, "rate");
    p.basic_rate = number(o, "basic_rate");
    p.slot = from_seconds(number(o, "slot"));
    p.sifs = from_seconds(number(o, "sifs"));
    p.difs = from_seconds(number(o, "difs"));
    p.cw_min = nb::cast<std::uint32_t>(o["cw_min"]);
    p.cw_max = nb::cast<std::uint32_t>(o["cw_max"]);
    p.short_retry = nb::cast<std::uint32_t>(o["short_retry"]);
    p.long_retry = nb::cast<std::uint32_t>(o["long_retry"]);
    p.rts_threshold = nb::cast<std::uint32_t>(o["rts_threshold"]);
    if (o.contains("max_message")) p.max_message = nb::cast<std::uint32_t>(o["max_message"]);
    p.queue = nb::cast<std::uint32_t>(o["queue"]);
    p.network_header = nb::cast<std::uint32_t>(o["network_header"]);
    p.link_delay = from_seconds(number(o, "link_delay"));
    p.priority = nb::cast<std::uint32_t>(o["priority"]);
    p.newest_first = nb::cast<bool>(o["newest_first"]);
    p.queue_per_class = nb::cast<bool>(o["queue_per_class"]);
    p.arp = nb::cast<bool>(o["arp"]);
    if (o.contains("lora")) {
        const auto lora = nb::cast<nb::dict>(o["lora"]);
        p.lora = LoraParameters{nb::cast<int>(lora["spreading_factor"]), number(lora, "bandwidth"),
                                nb::cast<int>(lora["coding"]), nb::cast<int>(lora["preamble"]),
                                nb::cast<bool>(lora["listen"]), number(lora, "duty_cycle")};
    }
    if (o.contains("ofdm")) {
        const auto ofdm = nb::cast<nb::dict>(o["ofdm"]);
        p.ofdm = OfdmParameters{from_seconds(number(ofdm, "symbol")), ofdm_mode(ofdm["unicast"]), ofdm_mode(ofdm["basic"])};
    }
    return p;
}

}  // namespace roamcast
