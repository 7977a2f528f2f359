// The queue of a station's link: which message is sent next, and which is dropped if the queue is full.
#include <algorithm>

#include "world/frame_sizes.h"
#include "world/world.h"

namespace roamcast {

void World::enqueue(NodeId node, const Packet& packet) {
    if (!radio_on(node)) {
        lose_unsent(node, packet);
        return;
    }
    if (packet.size > mac_.max_message) {
        ++counters_.too_large;
        record_unsent(node, packet, Loss::TooLarge);
        release_packet(packet);
        return;
    }
    Station& station = stations_[node];
    if (!station.serving) {
        serve(node, packet);
        return;
    }
    const bool urgent = (mac_.priority >> packet.category & 1) != 0;
    const std::size_t in_class = urgent ? station.urgent : station.queue.size() - station.urgent;
    if (mac_.queue_per_class && in_class >= mac_.queue) {  // ns-2's CMUPriQueue: the newcomer is dropped
        lose_to_full_queue(node, packet);
        return;
    }
    if (urgent) {
        const std::size_t place = mac_.newest_first ? 0 : station.urgent;
        station.queue.insert(station.queue.begin() + static_cast<std::ptrdiff_t>(place), packet);
        ++station.urgent;
    } else {
        station.queue.push_back(packet);
    }
    if (!mac_.queue_per_class && station.queue.size() >= mac_.queue) {  // the packet being sent counts
        const Packet lost = station.queue.back();
        station.queue.pop_back();
        station.urgent = std::min(station.urgent, station.queue.size());
        lose_to_full_queue(node, lost);
    }
}

void World::lose_to_full_queue(NodeId node, const Packet& packet) {
    const bool duty_cycle = held_by_duty_cycle(node);
    ++(duty_cycle ? counters_.duty_cycle : counters_.queue_full);
    record_unsent(node, packet, duty_cycle ? Loss::DutyCycle : Loss::QueueFull);
    release_packet(packet);
}

std::uint32_t World::network_bytes(const Packet& packet) const {
    return packet.size + (packet.arp == Arp::None ? mac_.network_header : 0);
}

void World::serve(NodeId node, const Packet& packet) {
    Station& station = stations_[node];
    station.serving = true;
    station.data = Frame{FrameType::Data, node, packet.to, ++station.sequence, 0, 0, packet};
    const std::uint32_t bytes = network_bytes(packet) + (mac_.lora ? lora_bytes : data_bytes);
    if (packet.to == everyone) {
        station.data.airtime = airtime(bytes, mac_.basic_rate);
    } else {
        station.data.airtime = airtime(bytes, mac_.rate);
        station.data.reserve = whole_micros(mac_.sifs + ack_airtime_);
    }
    station.rts_pending = announced(station.data);
    station.data_airtime = 0;
    station.data_first = -1;
    station.attempts = 0;
    if (mac_.lora) return aloha_serve(node);
    // With an answer due, the backoff begins when the answer is sent.
    if (!backoffs_[node].active && station.answer == PendingResponse::None) start_backoff(node);
}

void World::serve_next(NodeId node) {
    Station& station = stations_[node];
    if (station.queue.empty()) return;
    const Packet packet = station.queue.front();
    station.queue.erase(station.queue.begin());
    if (station.urgent > 0) --station.urgent;
    serve(node, packet);
}

void World::finish_packet(NodeId node, bool failed) {
    Station& station = stations_[node];
    const Packet packet = station.data.packet;
    station.serving = false;
    station.rts_pending = false;
    station.window = mac_.cw_min;
    if (packet.arp != Arp::None) return;
    records_.transmissions.push_back({station.data_first, station.data_airtime, packet.about, node, packet.to,
                                      packet.size, packet.kind, station.attempts, packet.category, failed});
    if (failed) {
        ++counters_.retry_limit;
        owner_.link_failed(node, packet);
    }
    release_packet(packet);
}

}  // namespace roamcast
