// The radio world: nodes that move, a medium that they share, and a clock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "channel/channel.h"
#include "world/event_queue.h"
#include "world/arp.h"
#include "world/frame.h"
#include "world/mobility.h"
#include "world/radio.h"
#include "world/station.h"
#include "world/spatial_index.h"
#include "world/sweeps.h"

namespace roamcast {

// The owner of the routers.
class RouterHost {
public:
    virtual ~RouterHost() = default;
    virtual void receive(NodeId node, const Packet& packet, NodeId from, double power) = 0;
    virtual void overhear(NodeId node, const Packet& packet, NodeId from, double power) = 0;
    virtual void link_failed(NodeId node, const Packet& packet) = 0;
    virtual void timer(std::uint32_t slot, std::uint64_t order) = 0;
    virtual bool misses(NodeId node, const Packet& packet) = 0;  // whether it has not handled the packet, so that its loss is recorded
    virtual void release(Handle message) = 0;  // the world holds this message no longer
    virtual bool interrupted() = 0;            // polled now and then: whether to stop
};

// Nodes are addressed by index, here, in packets and in records; `mobility()` translates it to and from the number.
class World {
public:
    // A channel is made if any of its options is set.
    World(const RadioParameters& radio, const std::optional<ChannelParameters>& channel, const MacParameters& mac,
          std::uint64_t seed, RouterHost& owner);

    Mobility& mobility() { return mobility_; }
    const Mobility& mobility() const { return mobility_; }
    void start();  // after the nodes are added; it gives them their indices

    Time now() const { return now_; }
    void run_until(Time end);
    void stop() { stopped_ = true; }  // for ever: an owner's router has failed

    void set_promiscuous(NodeId node) { promiscuous_[node] = true; }
    void record_losses(bool on) { record_losses_ = on; }

    void post(NodeId node, const Packet& packet);  // a message on its way down to the link

    // Take back what waits for a neighbour, in order, but not what the link is busy with.
    void withdraw(NodeId node, NodeId neighbour, const std::function<void(Handle)>& hand_back);

    // A radio that is off hears and sends nothing. Switched off, it loses what it was hearing, sending and about to
    // send; switched on, it begins as a new one.
    void set_radio(NodeId node, bool on);
    bool radio_on(NodeId node) const { return on_since_[node] != never; }

    std::uint64_t set_timer(Time delay, std::uint32_t slot) {
        return events_.enter(now_ + delay, EventKind::Timer, slot);
    }

    const Counters& counters() const { return counters_; }
    Records& records() { return records_; }
    std::size_t size() const { return stations_.size(); }
    SpatialIndex& spatial_index() { return spatial_index_; }
    const Radio& radio() const { return radio_; }
    bool is_lora() const { return mac_.lora.has_value(); }
    bool by_sinr() const { return sinr_.has_value(); }  // frames may be lost to bit errors

private:
    static constexpr std::uint32_t gone = 1U << 31;  // marks a receiver that was switched off before the packet rose

    struct Contender {
        Time due;
        std::uint64_t ticket;
        NodeId node;
    };

    // A frame in flight: its receivers, nearest first, and how far its three sweeps over them have come.
    struct FrameOnAir {
        Frame frame;
        Time start = 0;
        std::vector<Reception> receivers;
        std::vector<std::uint32_t> heard_by;  // indices of receivers that its packet rises at; `gone`: or would have
        std::size_t near = 0;       // receivers from here on cannot decode it
        std::size_t decodable = 0;  // by so many
        std::size_t arrived = 0;
        std::size_t ended = 0;
        std::size_t risen = 0;
        Time masked = 0;   // how long it keeps a station silent that receives a stronger one meanwhile
        bool cut = false;  // its sender's radio was switched off in the middle
        // Of the receivers beyond `near`, those whose backoff waits for the end; in order, the first `waiting`.
        std::vector<std::uint32_t> waiters;
        std::size_t waiting = 0;
        std::size_t waited = 0;  // how many of them the sweep has passed
        // Stations whose backoff counts since this frame ended. They wait on one queued event
        // together: the first mostly silences the others before they are due.
        std::vector<Contender> contenders;

        std::size_t next_end();
        std::size_t index_of(NodeId node, Time end) const;
    };

    // The medium (medium.cpp).
    void transmit(NodeId node, const Frame& frame);
    template <bool sinr>
    void advance_sweeps(Time end);
    template <bool sinr>
    Time sweep_arrivals(std::uint32_t flight_id, FrameOnAir& flight, Time others);
    template <bool sinr>
    Time sweep_ends(std::uint32_t flight_id, FrameOnAir& flight, Time others);
    void all_ended(std::uint32_t flight);
    void sweep_rises(std::uint32_t flight);
    void signal_arrives(std::uint32_t flight_id, FrameOnAir& flight, std::size_t index);
    void signal_ends(std::uint32_t flight_id, FrameOnAir& flight, std::size_t index);
    bool hears(NodeId node);
    void await_end(NodeId node);
    void record_outcome(const FrameOnAir& flight, const Reception& reception, ReceptionOutcome outcome);
    void record_loss(const FrameOnAir& flight, NodeId node, ReceptionOutcome outcome);
    void await_contest(std::uint32_t flight);
    void contest_over(std::uint32_t flight);
    void land_if_done(std::uint32_t flight);

    // Reception by SINR (sinr.cpp).
    void signal_arrives_sinr(std::uint32_t flight_id, FrameOnAir& flight, std::size_t index);
    void signal_ends_sinr(std::uint32_t flight_id, FrameOnAir& flight, std::size_t index);
    ReceptionOutcome judge(const FrameOnAir& flight, NodeId node, const SinrReceiver& sinr);

    // The 802.11 rules (dcf.cpp).
    void enqueue(NodeId node, const Packet& packet);
    std::uint32_t network_bytes(const Packet& packet) const;
    void serve(NodeId node, const Packet& packet);
    void serve_next(NodeId node);
    void finish_packet(NodeId node, bool failed);
    void start_backoff(NodeId node);
    void follow_medium(NodeId node);
    void count_on(NodeId node);
    void stop_counting(NodeId node);
    Time slots_counted(Time counting_at, Time counted) const;
    bool busy(NodeId node);
    void reserve(NodeId node, Time until);
    void frame_heard(NodeId node, FrameOnAir& flight, std::size_t index);
    void hand_up(NodeId node, FrameOnAir& flight, std::size_t index);
    void send_rts(NodeId node);
    void send_data(NodeId node);
    void send_answer(NodeId node);
    void backoff_over(NodeId node);
    void response_window_over(NodeId node);
    void sifs_over(NodeId node);
    void resume(NodeId node);
    void retry(NodeId node, bool rts);
    void widen(Station& station) const;
    bool announced(const Frame& data) const;
    std::uint32_t frame_bytes(const Frame& data) const;
    std::uint32_t& data_tries(Station& station) const;
    static Time whole_micros(Time time);
    Time airtime(std::uint32_t bytes, double rate) const;

    // Access of LoRa radios (aloha.cpp).
    void aloha_serve(NodeId node);
    void aloha_due(NodeId node);
    void aloha_sent(NodeId node);
    bool held_by_duty_cycle(NodeId node) const;

    // Address resolution (arp.cpp).
    bool resolve(NodeId node, const Packet& packet);
    void arp_heard(NodeId node, NodeId from, const Packet& packet);
    static Packet arp_frame(Arp arp, NodeId to, NodeId asked);
    void lose_unresolved(NodeId node, const Packet& packet);

    // Radios that are switched (switching.cpp).
    void cut_short(NodeId node);
    void forget_risen(NodeId node);
    std::vector<Packet> take_all(NodeId node);
    std::vector<Packet> take_descents(NodeId node, NodeId to);
    void take_held(NodeId node, NodeId neighbour, std::vector<Packet>& taken);
    void lose_unsent(NodeId node, const Packet& packet);
    void lose_to_full_queue(NodeId node, const Packet& packet);
    void record_unsent(NodeId node, const Packet& packet, Loss loss);

    void handle(const QueuedEvent& entry);
    void descend(NodeId node, const Packet& packet, Time delay, bool unresolved);
    void arrive_down(std::uint32_t slot);
    void retain_packet(const Packet& packet);
    void release_packet(const Packet& packet);

    Radio radio_;
    std::optional<Channel> channel_;
    MacParameters mac_;
    std::optional<SinrModel> sinr_;
    std::uint64_t seed_;
    RouterHost& owner_;
    Mobility mobility_;
    SpatialIndex spatial_index_;
    EventQueue events_;
    Sweeps sweeps_;
    Time now_ = 0;

    std::vector<Receiver> receivers_;
    std::vector<Backoff> backoffs_;
    std::vector<Station> stations_;
    std::vector<char> promiscuous_;
    std::vector<Time> may_send_;  // of LoRa radios: when the duty cycle allows the next frame
    std::vector<Time> on_since_;  // when a node's radio was switched on; `never`: it is off
    std::vector<std::unique_ptr<FrameOnAir>> flights_;
    std::vector<std::uint32_t> free_flights_;
    FrameOnAir* ending_ = nullptr;  // the flight whose end is being swept, or none
    std::uint64_t tickets_ = 0;
    std::vector<NodeId> due_;  // scratch of contest_over()
    struct QueuedToLink {
        NodeId node;  // `everyone`: it was taken back
        Packet packet;
        std::uint64_t order;
        bool unresolved;  // it will not be sent: the neighbour's address is unknown
    };
    std::vector<Addresses> addresses_;  // by node, where addresses are asked for
    std::vector<QueuedToLink> descents_;  // messages between router and link
    std::vector<std::uint32_t> free_descents_;
    std::vector<std::uint32_t> holds_;  // by Handle: in how many places of this world a message is

    Time rts_airtime_;
    Time cts_airtime_;
    Time ack_airtime_;
    Time eifs_;
    Time range_delay_;  // no signal that can be decoded is longer on the way
    Counters counters_;
    Records records_;
    bool record_losses_ = false;
    bool stopped_ = false;
};

}  // namespace roamcast
