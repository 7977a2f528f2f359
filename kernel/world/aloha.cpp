// Access of a LoRa radio in place of the DCF: a message is sent at once, or when the duty cycle allows; without backoff
// before it, RTS or ACK. With activity detection a station that senses a signal waits for a random number of slots.
#include <algorithm>

#include "world/world.h"

namespace roamcast {

namespace {

constexpr std::uint32_t most_slots = 16;  // of a wait after a busy medium
constexpr Time slot_symbols = 8;          // a slot lasts for a preamble

}  // namespace

void World::aloha_serve(NodeId node) {
    Station& station = stations_[node];
    station.response_order = events_.enter(std::max(now_, may_send_[node]), EventKind::AlohaDue, node);
}

// The message is due; after it the node is silent for so long that its share of the time is within the duty cycle.
void World::aloha_due(NodeId node) {
    Station& station = stations_[node];
    if (mac_.lora->listen && hears(node)) {
        const Time slots = 1 + station.random.below(most_slots);
        const Time wait = slots * slot_symbols * mac_.lora->symbol();
        station.response_order = events_.enter(now_ + wait, EventKind::AlohaDue, node);
        return;
    }
    const double silence = static_cast<double>(station.data.airtime) / mac_.lora->duty_cycle;
    may_send_[node] = now_ + std::max(station.data.airtime, static_cast<Time>(silence));
    send_data(node);
}

void World::aloha_sent(NodeId node) {
    receivers_[node].doing = DcfState::Nothing;
    finish_packet(node, false);
    if (!stations_[node].serving) serve_next(node);
}

// The cause of a drop at a full queue.
bool World::held_by_duty_cycle(NodeId node) const {
    return mac_.lora && mac_.lora->duty_cycle < 1 && may_send_[node] > now_;
}

}  // namespace roamcast
