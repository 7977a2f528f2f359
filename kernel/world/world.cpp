#include "world/world.h"

#include "world/frame_sizes.h"

namespace roamcast {

World::World(const RadioParameters& radio, const std::optional<ChannelParameters>& channel, const MacParameters& mac,
             std::uint64_t seed, RouterHost& owner)
    : radio_(radio),
      channel_(channel ? std::optional<Channel>(std::in_place, radio, *channel, seed) : std::nullopt),
      mac_(mac),
      sinr_(channel && channel->sinr ? std::optional<SinrModel>(std::in_place, *channel->sinr, *mac.ofdm) : std::nullopt),
      seed_(seed),
      owner_(owner),
      mobility_(seed),
      spatial_index_(radio_, channel_ ? &*channel_ : nullptr, mobility_),
      rts_airtime_(airtime(rts_bytes, mac.basic_rate)),
      cts_airtime_(airtime(answer_bytes, mac.basic_rate)),
      ack_airtime_(airtime(answer_bytes, mac.basic_rate)),
      eifs_(mac.sifs + mac.difs + airtime(answer_bytes, mac.ofdm ? mac.basic_rate : 1e6)),
      range_delay_(SpatialIndex::round_up((channel_ ? channel_->reach() : radio.range) * (ticks_per_second / light)) + 1) {}

void World::start() {
    mobility_.sort_by_position();
    const std::size_t nodes = mobility_.size();
    receivers_.resize(nodes);
    backoffs_.resize(nodes);
    stations_.resize(nodes);
    promiscuous_.resize(nodes, false);
    on_since_.resize(nodes, 0);
    addresses_.resize(mac_.arp ? nodes : 0);
    if (sinr_) sinr_->receivers.resize(nodes);
    if (mac_.lora) may_send_.resize(nodes, 0);
    for (NodeId node = 0; node < nodes; ++node) {
        stations_[node].random = Random(seed_, Purpose::Backoff, mobility_.number(node));
        stations_[node].window = mac_.cw_min;
    }
}

void World::post(NodeId node, const Packet& packet) {
    retain_packet(packet);
    if (mac_.arp && packet.to != everyone && radio_on(node) && !resolve(node, packet)) return;
    descend(node, packet, mac_.link_delay, false);
}

void World::descend(NodeId node, const Packet& packet, Time delay, bool unresolved) {
    std::uint32_t slot;
    if (free_descents_.empty()) {
        slot = static_cast<std::uint32_t>(descents_.size());
        descents_.emplace_back();
    } else {
        slot = free_descents_.back();
        free_descents_.pop_back();
    }
    descents_[slot] = {node, packet, events_.enter(now_ + delay, EventKind::MessageDown, slot), unresolved};
}

void World::arrive_down(std::uint32_t slot) {
    const QueuedToLink descent = descents_[slot];
    descents_[slot].node = everyone;
    free_descents_.push_back(slot);
    if (descent.node == everyone) return;
    if (!descent.unresolved) return enqueue(descent.node, descent.packet);
    owner_.link_failed(descent.node, descent.packet);
    lose_unresolved(descent.node, descent.packet);
}

void World::retain_packet(const Packet& packet) {
    if (packet.arp != Arp::None) return;
    if (packet.message >= holds_.size()) holds_.resize(packet.message + 1, 0);
    ++holds_[packet.message];
}

void World::release_packet(const Packet& packet) {
    if (packet.arp == Arp::None && --holds_[packet.message] == 0) owner_.release(packet.message);
}

void World::handle(const QueuedEvent& entry) {
    const std::uint32_t subject = entry.subject;
    switch (entry.what) {
        case EventKind::SignalsEnd: sweeps_.begin({entry.time, entry.order, subject, true}); break;
        case EventKind::FramesRise: sweep_rises(subject); break;
        case EventKind::MessageDown: arrive_down(subject); break;
        case EventKind::BackoffOver:
            if (backoffs_[subject].ticket == entry.order) backoff_over(subject);
            break;
        case EventKind::ContestOver:
            contest_over(subject);
            break;
        case EventKind::ResponseWindow:
            if (stations_[subject].response_order == entry.order) response_window_over(subject);
            break;
        case EventKind::SifsOver:
            if (stations_[subject].sifs_order == entry.order) sifs_over(subject);
            break;
        case EventKind::AlohaDue:
            if (stations_[subject].response_order == entry.order) aloha_due(subject);
            break;
        case EventKind::Timer: owner_.timer(subject, entry.order); break;
    }
}

void World::run_until(Time end) {
    constexpr std::uint64_t check_every = 1 << 14;
    while (!stopped_) {
        if (!sweeps_.empty() && sweeps_.first().next < events_.next_time()) {
            if (sweeps_.first().next > end) break;
            sinr_ ? advance_sweeps<true>(end) : advance_sweeps<false>(end);
        } else {
            if (events_.next_time() > end) break;
            const QueuedEvent entry = events_.take();
            now_ = entry.time;
            handle(entry);
        }
        if (++counters_.events_processed % check_every == 0 && owner_.interrupted()) return;
    }
    if (!stopped_ && end > now_) now_ = end;
}

}  // namespace roamcast
