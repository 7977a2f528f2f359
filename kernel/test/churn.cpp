// A busy world without Python: walkers, walkers under orders and standing nodes broadcast, unicast and set
// timers at random, withdraw what waits, and have their radios switched off and on. Meant to be run under sanitizers; checks what must hold whatever happens.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "world/world.h"

using namespace roamcast;

namespace {

void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "churn: violated: %s\n", what);
    std::exit(1);
}

class Crowd final : public RouterHost {
public:
    Crowd(std::uint64_t seed, std::uint32_t rts_threshold)
        : random_(seed, Purpose::Backoff, 1'000'000),
          arp_(seed % 2 == 0),
          world_(RadioParameters{}, channel(seed), mac(rts_threshold, arp_, seed), seed, *this) {
        Mobility& mobility = world_.mobility();
        for (int i = 0; i < 20; ++i) mobility.add_static({random_.uniform(0, 1500), random_.uniform(0, 1500)});
        for (int i = 0; i < 20; ++i) mobility.add_waypoint({{0, 0, 1500, 1500}, 1, 40, i % 2 * 3.0, i % 3 > 0});
        for (int i = 0; i < 10; ++i) {
            std::vector<MovementCommand> orders;
            for (int k = 0; k < 8; ++k) {
                orders.push_back({from_seconds(k * 1.5), {random_.uniform(0, 1500), random_.uniform(0, 1500)}, random_.uniform(0, 30)});
            }
            mobility.add_ordered({100.0 * i, 50}, orders);
        }
        world_.start();
        world_.record_losses(true);
        for (NodeId node = 0; node < world_.size(); node += 7) world_.set_promiscuous(node);
        for (std::uint32_t slot = 0; slot < world_.size(); ++slot) world_.set_timer(from_seconds(random_.uniform()), slot);
    }

    void play(double seconds) {
        for (double now = 0.5; now <= seconds; now += 0.5) world_.run_until(from_seconds(now));
        talking_ = false;
        world_.run_until(from_seconds(seconds + 60));
    }

    void check() {
        const Counters& c = world_.counters();
        std::uint64_t settled = 0;
        for (const std::uint64_t count : c.outcome) settled += count;
        require(settled == c.sensed, "every frame is accounted for once at every node that sensed it");
        if (arp_) {
            require(c.arp_replies > 0 && c.unresolved > 0, "addresses were resolved, and some were not");
            // Nobody may answer any more: what waits for an address goes with its radio.
            for (NodeId node = 0; node < world_.size(); ++node) world_.set_radio(node, false);
        }
        require(held_ == 0, "the world lets go of every message");
        require(received_ > 0 && overheard_ > 0 && failed_ > 0, "something of everything happened");
        require(c.retry_limit + unsent_to_someone() <= failed_, "every failure is reported");
        require(arp_ || c.retry_limit + unsent_to_someone() == failed_, "and nothing else is called one");
        require(c.outcome[static_cast<std::size_t>(ReceptionOutcome::Off)] > 0 && c.unsent > 0 && (arp_ || withdrawn_ > 0),
                "radios were switched off in the middle of things");
        for (const Transmission& sent : world_.records().transmissions) {
            require(sent.failed || sent.attempts > 0, "what was not given up was sent");
        }
    }

    std::uint64_t fingerprint() {
        std::uint64_t hash = 14695981039346656037ULL;
        for (const Transmission& sent : world_.records().transmissions) {
            for (const std::uint64_t part : {static_cast<std::uint64_t>(sent.time), static_cast<std::uint64_t>(sent.node)}) {
                hash = (hash ^ part) * 1099511628211ULL;
            }
        }
        return hash;
    }

    void receive(NodeId node, const Packet& packet, NodeId, double power) override {
        require(packet.to == everyone || packet.to == node, "only the addressee receives");
        require(power > 0, "what is received can be decoded");
        require(world_.radio_on(node), "a radio that is off hears nothing");
        ++received_;
    }
    void overhear(NodeId node, const Packet& packet, NodeId, double) override {
        require(packet.to != node, "no node overhears a packet addressed to it");
        require(world_.radio_on(node), "a radio that is off overhears nothing");
        ++overheard_;
    }
    void link_failed(NodeId node, const Packet&) override {
        ++failed_;
        speak(node);
    }
    void timer(std::uint32_t slot, std::uint64_t) override {
        if (!talking_) return;
        speak(slot);
        if (random_.below(40) == 0) world_.set_radio(slot, !world_.radio_on(slot));
        if (random_.below(20) == 0) {
            const NodeId neighbour = random_.below(static_cast<std::uint32_t>(world_.size()));
            world_.withdraw(slot, neighbour, [this](Handle) { ++withdrawn_; });
        }
        world_.set_timer(from_seconds(random_.uniform() * 0.2), slot);
    }
    bool misses(NodeId node, const Packet&) override { return node % 3 > 0; }
    void release(Handle message) override {
        --held_;
        free_.push_back(message);
    }
    bool interrupted() override { return false; }

private:
    static MacParameters mac(std::uint32_t rts_threshold, bool arp, std::uint64_t seed) {
        MacParameters parameters;
        if (seed == 7) parameters.lora = LoraParameters{7, 500e3, 1, 8, rts_threshold > 0, 0.5};
        if (by_sinr(seed)) parameters.ofdm = OfdmParameters{24'000'000, {}, {}};  // ps: slow enough for queues to fill
        parameters.rts_threshold = rts_threshold;
        parameters.arp = arp;
        return parameters;
    }

    // Of seven seeds, two have the plain radio, two shadowing or fading, two reception by SINR, and the last is LoRa.
    static std::optional<ChannelParameters> channel(std::uint64_t seed) {
        if (seed % 3 == 0) return std::nullopt;
        ChannelParameters parameters;
        if (seed % 3 == 1) parameters.shadowing = ShadowingParameters{6, 30, 1500, 1500};
        if (seed != 4) parameters.fading = static_cast<double>(seed);
        if (seed % 3 == 2) parameters.obstacles = {{{{{400, 400}, {900, 450}, {700, 900}}}, 6, 0.1}};
        if (by_sinr(seed)) parameters.sinr = SinrParameters{1.46e-10, 2.5};  // decoded up to some 250 m
        return parameters;
    }

    static bool by_sinr(std::uint64_t seed) { return seed == 4 || seed == 5; }

    // Messages to one neighbour that the link lost because its radio was off; the router hears of each.
    std::uint64_t unsent_to_someone() {
        std::uint64_t count = 0;
        for (const LostFrame& lost : world_.records().lost) {
            if (lost.cause == 16 + static_cast<int>(Loss::RadioOff) && lost.from != everyone) ++count;
        }
        return count;
    }

    void speak(NodeId node) {
        if (!talking_) return;
        Packet packet;
        if (free_.empty()) {
            packet.message = next_++;
        } else {
            packet.message = free_.back();
            free_.pop_back();
        }
        ++held_;
        const auto other = random_.below(static_cast<std::uint32_t>(world_.size()));
        packet.to = other % 2 == 0 || other == node ? everyone : other;
        packet.size = random_.below(600);
        packet.category = static_cast<std::uint8_t>(random_.below(4));
        packet.about = other;
        world_.post(node, packet);
    }

    Random random_;
    std::vector<Handle> free_;
    Handle next_ = 0;
    int held_ = 0;
    std::uint64_t received_ = 0;
    std::uint64_t overheard_ = 0;
    std::uint64_t failed_ = 0;
    std::uint64_t withdrawn_ = 0;
    bool talking_ = true;
    bool arp_;
    World world_;
};

}  // namespace

int main() {
    int passed = 0;
    for (std::uint64_t seed = 1; seed <= 7; ++seed) {
        for (const std::uint32_t threshold : {0U, 300U, 5000U}) {
            Crowd crowd(seed, threshold);
            crowd.play(12);
            crowd.check();
            Crowd twin(seed, threshold);
            twin.play(12);
            require(crowd.fingerprint() == twin.fingerprint(), "the same seed gives the same run");
            ++passed;
        }
    }
    std::printf("churn: %d worlds\n", passed);
}
