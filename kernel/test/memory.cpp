// The memory of routers, without Python: numbers seen recently beside a plain list of them, and the way that greedy
// forwarding takes beside a walk over all neighbours, at places as far apart as a message can say, and replay windows
// beside a set of all numbers.
// Meant to be run under sanitizers.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "routing/neighbour_positions.h"
#include "routing/recent.h"
#include "routing/replay_window.h"

using namespace roamcast;

namespace {

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "memory: %s\n", what);
    std::exit(1);
}

// Few numbers come again and again, many crowd each other's slots.
void remember(std::mt19937& random, std::size_t limit, std::uint64_t numbers) {
    Recent recent(limit);
    std::deque<std::uint64_t> twin;
    for (int step = 0; step < 20000; ++step) {
        const std::uint64_t number = (random() % numbers) << (random() % 2 ? 0 : 40);
        const bool known = std::find(twin.begin(), twin.end(), number) != twin.end();
        if (recent.contains(number) != known) fail("contains");
        if (recent.add(number) == known) fail("add");
        if (!known && limit > 0) {
            twin.push_back(number);
            if (twin.size() > limit) twin.pop_front();
        }
        if (recent.size() != twin.size()) fail("size");
    }
}

// Numbers near each other, far apart and at the end of 64 bits.
void accept(std::mt19937& random, std::uint64_t start, bool floor) {
    ReplayWindow window = floor ? ReplayWindow(start) : ReplayWindow();
    std::set<std::uint64_t> twin;
    bool empty = !floor;
    std::uint64_t highest = start;
    std::uint64_t next = start;
    for (int step = 0; step < 20000; ++step) {
        const std::uint64_t ahead = random() % (random() % 50 == 0 ? 3000 : 20);
        const std::uint64_t number = random() % 3 == 0 ? next - std::min<std::uint64_t>(random() % 1500, next)
                                                       : next + std::min(ahead, UINT64_MAX - next);
        const bool old = !empty && number <= highest &&
                         (highest - number >= ReplayWindow::window || twin.count(number) > 0 || (floor && number <= start));
        if (window.has(number) != old) fail("has");
        if (window.accept(number) == old) fail("accept");
        twin.insert(number);
        if (empty || number > highest) highest = number;
        empty = false;
        next = highest;
        if (window.empty() || window.highest() != highest) fail("highest");
    }
}

class Street {
public:
    Street(std::mt19937& random, std::int64_t reach) : random_(random), reach_(reach), places_(10, 20) {}

    void live(int steps) {
        for (int step = 0; step < steps; ++step) {
            now_ += 0.25;
            const NeighbourPositions::Node node = pick(40);
            if (random_() % 8 == 0) {
                places_.discard(node);
                known_.erase(node);
            } else {
                const PointCm spot = somewhere();
                known_.erase(node);
                // A full table gives up the one unheard longest.
                if (known_.size() == 20) {
                    known_.erase(std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) {
                        return a.second.heard < b.second.heard;
                    }));
                }
                known_[node] = {spot, now_};
                places_.renew(node, spot, now_);
            }
            if (random_() % 16 == 0) places_.sweep(now_);
            compare();
        }
    }

private:
    struct Heard {
        PointCm spot;
        double heard;
    };

    std::int64_t pick(std::int64_t below) { return static_cast<std::int64_t>(random_()) % below; }
    PointCm somewhere() { return {pick(2 * reach_ + 1) - reach_, pick(2 * reach_ + 1) - reach_}; }

    void compare() {
        const NeighbourPositions::Node destination = pick(80);
        const PointCm here = somewhere(), goal = somewhere(), stuck_at = somewhere();
        const std::int64_t radius = random_() % 2 ? 0 : pick(reach_);
        const PointCm* const entered = random_() % 2 ? nullptr : &stuck_at;
        NeighbourPositions::Node expected = NeighbourPositions::stuck;
        const auto away = [&](PointCm spot) { return squared(spot, goal); };
        std::int64_t least = away(here);
        for (const auto& [node, heard] : known_) {  // in order of nodes: of equals the first
            if (heard.heard + 10 > now_ && away(heard.spot) < least) {
                least = away(heard.spot);
                expected = node;
            }
        }
        if (entered != nullptr && away(here) >= away(*entered)) expected = NeighbourPositions::around;
        if (radius > 0 && away(here) <= radius * radius) expected = NeighbourPositions::taken;
        const auto found = known_.find(destination);
        if (found != known_.end() && found->second.heard + 10 > now_) expected = destination;
        if (places_.choose(destination, here, goal, radius, entered, now_) != expected) fail("choose");
        places_.planarise(here, now_, random_() % 2);
        const auto hop = places_.next_edge(here, goal, {});
        if (hop.has_value() == places_.edges().empty()) fail("next edge");
        if (hop) places_.change_face(here, goal, stuck_at, somewhere(), *hop);
    }

    std::mt19937& random_;
    std::int64_t reach_;
    double now_ = 0;
    NeighbourPositions places_;
    std::map<NeighbourPositions::Node, Heard> known_;
};

}  // namespace

int main() {
    std::mt19937 random(1);
    for (const std::size_t limit : {0, 1, 2, 7, 100, 1000}) {
        for (const std::uint64_t numbers : {5, 150, 100000}) remember(random, limit, numbers);
    }
    for (const std::int64_t reach : {std::int64_t{3}, std::int64_t{2000}, (std::int64_t{1} << 23) - 1}) Street(random, reach).live(20000);
    for (const std::uint64_t start : {std::uint64_t{0}, std::uint64_t{5000}, UINT64_MAX - 4000, UINT64_MAX}) {
        accept(random, start, true);
        accept(random, start, false);
    }
    std::puts("memory: nothing violated");
}
