// The match index without Python: filters of a few shapes come and go, most of them wanted by several, and every answer is
// compared with a walk over all of them.
// Meant to be run under sanitizers.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "match/subscriber_index.h"

using namespace roamcast::match;

namespace {

class Crowd {
public:
    // With few different filters many want the same; with many, hardly anybody does.
    Crowd(unsigned seed, int different) : random_(seed), audience_({false, false, true, true}) {
        while (static_cast<int>(shapes_.size()) < different) {
            std::vector<Conjunction> made = some_filter();
            if (std::find(shapes_.begin(), shapes_.end(), made) == shapes_.end()) shapes_.push_back(std::move(made));
        }
    }

    // A filter is the same as itself, and not as another or as itself with one detail changed.
    void tell_apart() {
        Index index({false, false, true, true});
        for (std::uint32_t n = 0; n < shapes_.size(); ++n) index.add(n, shapes_[n]);
        for (std::uint32_t n = 0; n < shapes_.size(); ++n) {
            std::vector<Conjunction> other = shapes_[n];
            if (!index.same(n, other)) fail("same as itself");
            if (index.same(n, shapes_[(n + 1) % shapes_.size()])) fail("same as another");
            if (other.empty() || other.back().empty()) continue;
            change(other.back().back());
            if (index.same(n, other)) fail("same as a changed one");
            other = shapes_[n];
            other.push_back({});
            if (index.same(n, other)) fail("same as a longer one");
        }
    }

    void live(int steps) {
        for (int step = 0; step < steps; ++step) {
            const bool leaving = below(100) < (step / 1500 % 2 ? 70 : 25);
            const std::size_t key = static_cast<std::size_t>(below(1200));
            if (leaving || wanted_.contains(key)) {
                leave(key);
            } else {
                const std::size_t shape = static_cast<std::size_t>(below(static_cast<int>(shapes_.size())));
                wanted_[key] = {audience_.add(keys_ + key, shapes_[shape]), shape};
            }
            if (step % 50 == 0) compare();
        }
        std::size_t held = 0;
        audience_.visit([&](void*) { ++held; });
        if (held != wanted_.size()) fail("visit");
        std::set<std::size_t> different;
        for (const auto& [key, want] : wanted_) different.insert(want.second);
        if (audience_.entries() != different.size()) fail("one entry for a filter");
        if (audience_.bytes() == 0) fail("bytes");
        while (!wanted_.empty()) leave(wanted_.begin()->first);
        audience_.visit([&](void*) { fail("visit after all have gone"); });
        compare();
    }

private:
    [[noreturn]] static void fail(const char* what) {
        std::fprintf(stderr, "filters: violated: %s\n", what);
        std::exit(1);
    }

    void change(Constraint& constraint) {
        if (below(2)) {
            constraint.absent = !constraint.absent;
        } else if (!constraint.text) {
            ++(below(2) ? constraint.spans.back().high : constraint.spans.back().low);
        } else if (constraint.listed) {
            constraint.words.back() += "x";
        } else {
            constraint.like.back().back() += "x";
        }
    }

    void leave(std::size_t key) {
        const auto found = wanted_.find(key);
        if (found == wanted_.end()) {
            if (audience_.remove(1 << 20)) fail("remove a stranger");
            return;
        }
        const std::uint32_t member = found->second.first;
        if (audience_.remove(member) != keys_ + key) fail("remove");
        if (audience_.remove(member)) fail("remove twice");
        wanted_.erase(found);
    }

    int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }

    std::string word() { return std::string(1, static_cast<char>('a' + below(3))) + std::to_string(below(20)); }

    Constraint number(std::uint32_t field) {
        Constraint made;
        made.field = field;
        made.absent = below(5) == 0;
        const std::int64_t low = below(200) - 100;
        made.spans.push_back({below(10) ? low : INT64_MIN, below(10) ? low + below(30) : INT64_MAX - 1});
        if (below(5) == 0 && made.spans[0].high < 1000) made.spans.push_back({2000, 2000 + below(5)});
        return made;
    }

    Constraint text(std::uint32_t field) {
        Constraint made;
        made.field = field;
        made.text = true;
        made.absent = below(5) == 0;
        switch (below(4)) {
            case 0: made.like = {{word().substr(0, 2), ""}}; break;
            case 1: made.like = {{"", std::to_string(below(10))}}; made.unlike = {{"", "a", ""}}; break;
            case 2: made.listed = true; made.words = {word(), word()}; break;
            default: made.listed = true; made.words = {word()};
        }
        return made;
    }

    std::vector<Conjunction> some_filter() {
        std::vector<Conjunction> made;
        for (int n = below(8) ? 1 : below(4); n > 0; --n) {
            switch (below(5)) {
                case 0: made.push_back({number(0)}); break;
                case 1: made.push_back({number(0), text(2)}); break;
                case 2: made.push_back({number(0), number(1), text(3)}); break;
                case 3: made.push_back({text(2)}); break;
                default: made.push_back({});
            }
        }
        return made;
    }

    void compare() {
        std::vector<Value> event(4);
        std::string words[2] = {word(), word()};
        for (std::size_t field = 0; field < 2; ++field) {
            if (below(6)) event[field] = {Value::ValueType::number, below(10) ? below(220) - 110 : 2002, {}};
            if (below(6)) event[field + 2] = {Value::ValueType::text, 0, words[field]};
        }
        std::vector<void*> expected;
        for (const auto& [key, want] : wanted_) {
            const std::vector<Conjunction>& conjunctions = shapes_[want.second];
            const bool matched = std::any_of(conjunctions.begin(), conjunctions.end(), [&](const Conjunction& each) {
                return std::all_of(each.begin(), each.end(), [&](const Constraint& c) { return c.allows(event[c.field]); });
            });
            if (matched) expected.push_back(keys_ + key);
        }
        std::vector<void*> found = audience_.match(event);
        std::sort(found.begin(), found.end());
        if (found != expected) fail("match");
    }

    std::mt19937 random_;
    SubscriberIndex audience_;
    char keys_[1200] = {};
    std::vector<std::vector<Conjunction>> shapes_;
    std::map<std::size_t, std::pair<std::uint32_t, std::size_t>> wanted_;  // by key: its number, and which filter
};

}  // namespace

int main() {
    for (unsigned seed = 1; seed <= 3; ++seed) {
        for (const int different : {20, 400, 2000}) {
            Crowd crowd(seed, different);
            crowd.tell_apart();
            crowd.live(6000);
        }
    }
    std::puts("filters: nothing violated");
}
