// Radios that are switched off and on, and messages that are taken back from the link.
#include <algorithm>
#include <iterator>

#include "world/world.h"

namespace roamcast {

void World::set_radio(NodeId node, bool on) {
    if (on == radio_on(node)) return;
    ++counters_.switches;
    Receiver& ear = ears_[node];
    ear.reserved = 0;  // it knows of nobody's reservation
    if (on) {
        on_since_[node] = now_;
        ear.sending = now_;  // what it hears the rest of began without it
        return;
    }
    cut_short(node);
    forget_risen(node);
    const std::vector<Packet> unsent = take_all(node);
    on_since_[node] = never;
    // As if it were sending without end: every signal finds it deaf, and nothing else in the medium has to ask.
    ear.sending = never;
    ear.deaf = true;
    ear.waiting = false;
    ear.doing = DcfState::Nothing;
    backoffs_[node] = Backoff{};
    for (const Packet& parcel : unsent) lose_unsent(node, parcel);
}

// The signal of a frame on the air goes on for its time; nobody can make sense of it any more.
void World::cut_short(NodeId node) {
    const Time left = ears_[node].sending - now_;
    if (left <= 0) return;
    for (const auto& flight : flights_) {
        if (flight->frame.from == node && flight->start + flight->frame.airtime > now_) flight->cut = true;
    }
    const DcfState doing = ears_[node].doing;
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
        const Packet& parcel = station.data.parcel;
        if (station.data_first >= 0 && parcel.arp == Arp::None) {
            records_.transmissions.push_back({station.data_first, station.data_airtime, parcel.about, node, parcel.to,
                                              parcel.size, parcel.kind, station.attempts, parcel.category, true});
        }
        taken.push_back(parcel);
    }
    taken.insert(taken.end(), station.queue.begin(), station.queue.end());
    const std::vector<Packet> descending = take_descents(node, everyone);
    taken.insert(taken.end(), descending.begin(), descending.end());
    if (mac_.arp) {
        // By neighbour, so that the order does not hang on how a table hashes.
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

// What waits for a neighbour's address.
void World::take_held(NodeId node, NodeId neighbour, std::vector<Packet>& taken) {
    const auto found = addresses_[node].find(neighbour);
    if (found == addresses_[node].end() || !found->second.holds) return;
    found->second.holds = false;
    taken.push_back(found->second.held);
}

// What is between router and link, in order; all of it, or the messages for one neighbour.
std::vector<Packet> World::take_descents(NodeId node, NodeId to) {
    std::vector<QueuedToLink*> found;
    for (QueuedToLink& descent : descents_) {
        if (descent.node != node) continue;
        if (to == everyone || (descent.parcel.to == to && descent.parcel.arp == Arp::None)) found.push_back(&descent);
    }
    std::sort(found.begin(), found.end(), [](const QueuedToLink* a, const QueuedToLink* b) { return a->order < b->order; });
    std::vector<Packet> taken;
    for (QueuedToLink* const descent : found) {
        taken.push_back(descent->parcel);
        descent->node = everyone;  // its entry of the agenda will find nothing
    }
    return taken;
}

void World::lose_unsent(NodeId node, const Packet& parcel) {
    if (parcel.arp != Arp::None) return;
    ++counters_.unsent;
    record_unsent(node, parcel, Loss::RadioOff);
    if (parcel.to != everyone) owner_.link_failed(node, parcel);
    let_go(parcel);
}

void World::record_unsent(NodeId node, const Packet& parcel, Loss loss) {
    if (!record_losses_ || parcel.arp != Arp::None) return;
    records_.lost.push_back({now_, parcel.about, node, parcel.to, parcel.kind, parcel.category,
                             static_cast<std::uint8_t>(16 + static_cast<int>(loss))});
}

void World::withdraw(NodeId node, NodeId neighbour, const std::function<void(Handle)>& hand_back) {
    Station& station = stations_[node];
    std::vector<Packet> taken;
    std::vector<Packet> left;
    std::size_t urgent = 0;
    for (std::size_t place = 0; place < station.queue.size(); ++place) {
        const Packet& parcel = station.queue[place];
        if (parcel.to == neighbour && parcel.arp == Arp::None) {
            taken.push_back(parcel);
        } else {
            left.push_back(parcel);
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
    for (const Packet& parcel : taken) {
        hand_back(parcel.message);
        let_go(parcel);
    }
}

}  // namespace roamcast
