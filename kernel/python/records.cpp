// The records of the radio world, as counters and as columns.
#include <nanobind/stl/string.h>

#include "python/routed_world.h"

namespace roamcast {

nb::dict PyWorld::counters() const {
    const Counters& c = world_.counters();
    nb::dict out;
    const char* types[] = {"data", "rts", "cts", "ack"};
    for (std::size_t i = 0; i < 4; ++i) out[types[i]] = c.frames[i];
    const char* names[] = {"received", "collided", "captured", "weak", "deaf"};
    for (std::size_t i = 0; i < 5; ++i) out[names[i]] = c.outcome[i];
    out["sensed"] = c.sensed;
    out["repeated"] = c.repeated;
    out["queue_full"] = c.queue_full;
    out["retry_limit"] = c.retry_limit;
    out["events_processed"] = c.events_processed;
    if (c.switches > 0) {  // only of worlds where radios are switched
        out["radio_off"] = c.outcome[static_cast<std::size_t>(ReceptionOutcome::Off)];
        out["unsent"] = c.unsent;
    }
    if (c.arp_queries > 0) {  // and where addresses are asked for
        out["arp_queries"] = c.arp_queries;
        out["arp_replies"] = c.arp_replies;
        out["unresolved"] = c.unresolved;
    }
    if (world_.by_sinr()) out["bit_errors"] = c.outcome[static_cast<std::size_t>(ReceptionOutcome::BitErrors)];
    if (world_.is_lora()) out["duty_cycle"] = c.duty_cycle;
    if (c.too_large > 0) out["too_large"] = c.too_large;
    return out;
}

nb::list PyWorld::drop_counts() const {
    nb::list out;
    for (const std::uint64_t count : drop_counts_) out.append(count);
    return out;
}

nb::list PyWorld::kinds() const {
    nb::list out;
    for (const std::string& name : kinds_.names()) out.append(name);
    return out;
}

nb::dict PyWorld::deliveries() { return delivery_columns(deliveries_, world_.mobility()); }
nb::dict PyWorld::transmissions() { return transmission_columns(world_.records().transmissions, world_.mobility()); }
nb::dict PyWorld::lost_frames() { return lost_columns(world_.records().lost, world_.mobility()); }
nb::dict PyWorld::router_drops() { return drop_columns(drops_, world_.mobility()); }
nb::dict PyWorld::states() const { return states_.columns(world_.mobility()); }

std::size_t PyWorld::recorded() {
    const Records& records = world_.records();
    return records.transmissions.size() + records.lost.size() + drops_.size() + deliveries_.size() + states_.size();
}

void PyWorld::forget() {
    world_.records().transmissions.clear();
    world_.records().lost.clear();
    drops_.clear();
    deliveries_.clear();
    states_.forget();
}

nb::list PyWorld::state_names() const {
    nb::list out;
    for (const std::string& name : states_.names()) out.append(name);
    return out;
}

}  // namespace roamcast
