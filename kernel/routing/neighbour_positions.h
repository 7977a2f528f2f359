// Where a node's neighbours were when they were heard last, and the geometry of geographic forwarding on it.
//
// All of it is exact: places are whole centimetres, and a crossing is rounded to one in the same way from both ends of
// its edge, so that two nodes never disagree about the side on which a face lies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace roamcast {

__extension__ typedef __int128 Wide;  // a place times the area of a triangle needs more than 64 bits

struct PointCm {
    std::int64_t x;
    std::int64_t y;
    bool operator==(const PointCm&) const = default;
    auto operator<=>(const PointCm&) const = default;
};

inline std::int64_t squared(PointCm a, PointCm b) {
    const std::int64_t x = a.x - b.x;
    const std::int64_t y = a.y - b.y;
    return x * x + y * y;
}

// Positive where `c` lies left of the line from `a` to `b`, negative on its right, 0 on it.
inline std::int64_t side(PointCm a, PointCm b, PointCm c) {
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Where the edge `ab` and the line from `c` to `d` cut each other, rounded; nothing if they do not. Merely touching is
// no cut: who stands on the line is nearer to its end than its beginning is.
inline std::optional<PointCm> crossing(PointCm a, PointCm b, PointCm c, PointCm d) {
    if (b < a) std::swap(a, b);
    const auto opposite = [](std::int64_t one, std::int64_t other) { return (one < 0 && other > 0) || (one > 0 && other < 0); };
    const std::int64_t one = side(c, d, a);
    const std::int64_t other = side(c, d, b);
    if (!opposite(one, other) || !opposite(side(a, b, c), side(a, b, d))) return {};
    const Wide share = Wide{one} - other;
    // To the nearest whole centimetre, halves up, by whole numbers alone.
    const auto nearest = [&](std::int64_t from, std::int64_t to) {
        Wide above = 2 * (Wide{from} * share + Wide{to - from} * one) + share;
        Wide below = 2 * share;
        if (below < 0) above = -above, below = -below;
        return static_cast<std::int64_t>((above - (above < 0 ? below - 1 : 0)) / below);
    };
    return PointCm{nearest(a.x, b.x), nearest(a.y, b.y)};
}

class NeighbourPositions {
public:
    using Node = std::int64_t;

    struct PositionEntry {
        Node node;
        double expires;
        PointCm spot;
    };

    // Where a walk around faces goes on, and where it has entered the present face, if that is another one.
    struct PerimeterHop {
        Node hop;
        std::optional<PointCm> crossed;
    };

    NeighbourPositions(double duration, std::size_t capacity) : duration_(duration), capacity_(capacity) {}

    std::size_t size() const { return entries_.size(); }
    double duration() const { return duration_; }
    const std::vector<PositionEntry>& entries() const { return entries_; }  // in order of renewal

    // A full table gives up the one unheard longest.
    void renew(Node node, PointCm spot, double now) {
        discard(node);
        if (!entries_.empty() && entries_.size() >= capacity_) entries_.erase(entries_.begin());
        entries_.push_back({node, now + duration_, spot});
    }

    void discard(Node node) {
        const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const PositionEntry& e) { return e.node == node; });
        if (found != entries_.end()) entries_.erase(found);
    }

    void sweep(double now) {
        const auto alive = std::find_if(entries_.begin(), entries_.end(), [&](const PositionEntry& e) { return e.expires > now; });
        entries_.erase(entries_.begin(), alive);
    }

    const PositionEntry* find(Node node, double now) const {
        for (const PositionEntry& entry : entries_) {
            if (entry.node == node) return entry.expires > now ? &entry : nullptr;
        }
        return nullptr;
    }

    // The next hop of greedy forwarding for a packet to `destination` or, with a radius in cm, to any node so near
    // to the goal: give it to the destination, if that is a neighbour; be `taken` here; go to the neighbour nearest to
    // the goal; or be `stuck`. One that walks around faces goes `around` them until it is nearer than where it `entered`.
    static constexpr Node taken = -1;
    static constexpr Node stuck = -2;
    static constexpr Node around = -3;

    Node choose(Node destination, PointCm here, PointCm goal, std::int64_t radius, const PointCm* entered, double now) const {
        if (find(destination, now) != nullptr) return destination;
        const std::int64_t away = squared(here, goal);
        if (radius > 0 && away <= radius * radius) return taken;
        if (entered != nullptr && away >= squared(*entered, goal)) return around;
        return nearer(here, goal, now).value_or(stuck);
    }

    // The neighbour nearest to a place, if that is nearer than `here`; of equals the lower node.
    std::optional<Node> nearer(PointCm here, PointCm goal, double now) const {
        std::optional<Node> best;
        std::int64_t least = squared(here, goal);
        for (const PositionEntry& entry : entries_) {
            if (entry.expires <= now) continue;
            const std::int64_t away = squared(entry.spot, goal);
            if (away < least || (away == least && best && entry.node < *best)) {
                best = entry.node;
                least = away;
            }
        }
        return best;
    }

    // Keep, until the next time, which neighbours a planar graph joins to `here`: Gabriel's those with nobody in the
    // circle whose diameter is the edge to them, the relative neighbourhood graph those with nobody nearer to both ends
    // than these are to each other.
    void planarise(PointCm here, double now, bool relative) {
        around_.clear();
        for (const PositionEntry& entry : entries_) {
            if (entry.expires > now) around_.push_back(entry);
        }
        edges_.clear();
        for (const PositionEntry& end : around_) {
            const bool hidden = std::any_of(around_.begin(), around_.end(), [&](const PositionEntry& other) {
                if (other.node == end.node) return false;
                // Of several at one place, all but the lowest hide behind it: their edges would lie on each other.
                if (other.spot == end.spot && other.node < end.node) return true;
                return relative ? is_between(here, end.spot, other.spot) : is_inside(here, end.spot, other.spot);
            });
            if (!hidden) edges_.push_back(end);
        }
    }

    const std::vector<PositionEntry>& edges() const { return edges_; }

    // The first edge counter-clockwise from the direction of `towards`; the one to `after`, whose direction that is,
    // comes last. Of edges in one direction the lower node comes first.
    std::optional<Node> next_edge(PointCm here, PointCm towards, std::optional<Node> after) const {
        const PositionEntry* const found = turn_from(here, towards, after);
        return found == nullptr ? std::nullopt : std::optional(found->node);
    }

    // Where the next edge cuts the line from `entered` to the goal, nearer to it than `crossed`, go on along the face
    // beyond.
    PerimeterHop change_face(PointCm here, PointCm goal, PointCm entered, PointCm crossed, Node hop) const {
        PerimeterHop turn{hop, {}};
        for (std::size_t i = 0; i < edges_.size(); ++i) {
            const auto edge = std::find_if(edges_.begin(), edges_.end(), [&](const PositionEntry& e) { return e.node == turn.hop; });
            if (edge == edges_.end()) break;
            const std::optional<PointCm> cut = crossing(here, edge->spot, entered, goal);
            if (!cut || squared(*cut, goal) >= squared(crossed, goal)) break;
            crossed = *cut;
            turn = {turn_from(here, edge->spot, turn.hop)->node, cut};
        }
        return turn;
    }

private:
    static bool is_inside(PointCm u, PointCm v, PointCm w) { return (w.x - u.x) * (w.x - v.x) + (w.y - u.y) * (w.y - v.y) < 0; }

    static bool is_between(PointCm u, PointCm v, PointCm w) { return std::max(squared(u, w), squared(v, w)) < squared(u, v); }

    // 0: left of the start, 1: straight back, 2: right of it, 3: straight ahead, which counts as a whole turn.
    static int quarter(PointCm start, PointCm vector) {
        const std::int64_t cross = start.x * vector.y - start.y * vector.x;
        const std::int64_t dot = start.x * vector.x + start.y * vector.y;
        return cross > 0 ? 0 : cross < 0 ? 2 : dot < 0 ? 1 : 3;
    }

    const PositionEntry* turn_from(PointCm here, PointCm towards, std::optional<Node> after) const {
        const PointCm start{towards.x - here.x, towards.y - here.y};
        const PositionEntry* first = nullptr;
        PointCm first_vector{};
        int first_quarter = 0;
        for (const PositionEntry& edge : edges_) {
            const PointCm vector{edge.spot.x - here.x, edge.spot.y - here.y};
            const int turned = after == edge.node ? 4 : quarter(start, vector);
            if (first != nullptr) {
                const std::int64_t cross = vector.x * first_vector.y - vector.y * first_vector.x;
                if (turned > first_quarter) continue;
                if (turned == first_quarter && (cross < 0 || (cross == 0 && edge.node > first->node))) continue;
            }
            first = &edge;
            first_vector = vector;
            first_quarter = turned;
        }
        return first;
    }

    double duration_;
    std::size_t capacity_;
    std::vector<PositionEntry> entries_;
    std::vector<PositionEntry> around_;
    std::vector<PositionEntry> edges_;
};

}  // namespace roamcast
