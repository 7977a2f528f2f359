// Radios that are switched off and on, and messages that are taken back from the link.
#include <algorithm>
#include <iterator>

#include "world/world.h"

namespace roamcast {

void World::set_radio(NodeId node, bool on) {
    if (on == radio_on(node)) return;
    ++counters_.switches;
    Receiver& receiver = receivers_[node];
    receiver.reserved = 0;  // it knows of no reservation
    if (on) {
        on_since_[node] = now_;
        receiver.sending = now_;  // what it hears the rest of began without it
        return;
    }
    cut_short(node);
    forget_risen(node);
    const std::vector<Packet> unsent = take_all(node);
    on_since_[node] = never;
    // As if it were sending without end: every signal finds it deaf, and nothing else in the medium has to ask.
    receiver.sending = never;
    receiver.deaf = true;
    receiver.waiting = false;
    receiver.doing = DcfState::Nothing;
    backoffs_[node] = Backoff{};
    for (const Packet& packet : unsent) lose_unsent(node, packet);
}

// The signal of a frame on the air goes on for its time; it can no longer be decoded.
void World::cut_short(NodeId node) {
    const Time left = receivers_[node].sending - now_;
    if (left <= 0) return;
    for (const auto& flight : flights_) {
        if (flight->frame.from == node && flight->start + flight->frame.airtime > now_) flight->cut = true;
    }
    const DcfState doing = receivers_[node].doing;
    if (doing == DcfState::AwaitingCts || doing == DcfState::AwaitingAck) stations_[node].data_airtime -= left;
}

// Frames that were understood and have not come up to the router yet never will.
void World::forget_risen(NodeId node) {
    for (const auto& flight : flights_) {
        for (std::size_t i = flight->risen; i < flight->heard_by.size(); ++i) {
            std::uint32_t& index = flight->heard_by[i];
            if ((index & gone) != 0 || flight->receivers[index].node != node) continue;
            index |= gone;
            record_loss(*flight, node, ReceptionOutcome::Off);
        }
    }
}

// Everything of a node that is not sent yet; its link is as new afterwards, but for its chance and its numbers.
std::vector<Packet> World::take_all(NodeId node) {
    Station& station = stations_[node];
    std::vector<Packet> taken;
    if (station.serving) {
        const Packet& packet = station.data.packet;
        if (station.data_first >= 0 && packet.arp == Arp::None) {
            records_.transmissions.push_back({station.data_first, station.data_airtime, packet.about, node, packet.to,
                                              packet.size, packet.kind, station.attempts, packet.category, true});
        }
        taken.push_back(packet);
    }
    taken.insert(taken.end(), station.queue.begin(), station.queue.end());
    const std::vector<Packet> descending = take_descents(node, everyone);
    taken.insert(taken.end(), descending.begin(), descending.end());
    if (mac_.arp) {
        // By neighbour, so that the order does not depend on a hash table.
        for (NodeId number = 0; number < size(); ++number) take_held(node, mobility_.index(number), taken);
        addresses_[node].clear();
    }
    Station fresh;
    fresh.random = station.random;
    fresh.sequence = station.sequence;  // or neighbours would take its next frame for one repeated
    fresh.window = mac_.cw_min;
    station = std::move(fresh);
    return taken;
}

// Take the packet that waits for a neighbour's address.
void World::take_held(NodeId node, NodeId neighbour, std::vector<Packet>& taken) {
    const auto found = addresses_[node].find(neighbour);
    if (found == addresses_[node].end() || !found->second.holds) return;
    found->second.holds = false;
    taken.push_back(found->second.held);
}

// Take the packets between router and link, in order: all of them, or those for one neighbour.
std::vector<Packet> World::take_descents(NodeId node, NodeId to) {
    std::vector<QueuedToLink*> found;
    for (QueuedToLink& descent : descents_) {
        if (descent.node != node) continue;
        if (to == everyone || (descent.packet.to == to && descent.packet.arp == Arp::None)) found.push_back(&descent);
    }
    std::sort(found.begin(), found.end(), [](const QueuedToLink* a, const QueuedToLink* b) { return a->order < b->order; });
    std::vector<Packet> taken;
    for (QueuedToLink* const descent : found) {
        taken.push_back(descent->packet);
        descent->node = everyone;  // its queued event will find nothing
    }
    return taken;
}

void World::lose_unsent(NodeId node, const Packet& packet) {
    if (packet.arp != Arp::None) return;
    ++counters_.unsent;
    record_unsent(node, packet, Loss::RadioOff);
    if (packet.to != everyone) owner_.link_failed(node, packet);
    release_packet(packet);
}

void World::record_unsent(NodeId node, const Packet& packet, Loss loss) {
    if (!record_losses_ || packet.arp != Arp::None) return;
    records_.lost.push_back({now_, packet.about, node, packet.to, packet.kind, packet.category,
                             static_cast<std::uint8_t>(16 + static_cast<int>(loss))});
}

void World::withdraw(NodeId node, NodeId neighbour, const std::function<void(Handle)>& hand_back) {
    Station& station = stations_[node];
    std::vector<Packet> taken;
    std::vector<Packet> left;
    std::size_t urgent = 0;
    for (std::size_t place = 0; place < station.queue.size(); ++place) {
        const Packet& packet = station.queue[place];
        if (packet.to == neighbour && packet.arp == Arp::None) {
            taken.push_back(packet);
        } else {
            left.push_back(packet);
            urgent += place < station.urgent ? 1 : 0;
        }
    }
    station.queue = std::move(left);
    station.urgent = urgent;
    if (!mac_.arp) {
        // With ARP all is as in ns-2, where a router sees the queue alone: what waits for an address fails by itself.
        const std::vector<Packet> descending = take_descents(node, neighbour);
        taken.insert(taken.end(), descending.begin(), descending.end());
    }
    for (const Packet& packet : taken) {
        hand_back(packet.message);
        release_packet(packet);
    }
}

}  // namespace roamcast
