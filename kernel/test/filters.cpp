// The match index without Python: filters of a few shapes come and go, and every answer is compared with a walk over all of them.
// Meant to be run under sanitizers.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "match/index.h"

using namespace roamcast::match;

namespace {

class Crowd {
public:
    explicit Crowd(unsigned seed) : random_(seed), index_({false, false, true, true}) {}

    void live(int steps) {
        for (int step = 0; step < steps; ++step) {
            const bool leaving = below(100) < (step / 1500 % 2 ? 70 : 25);
            const auto filter = static_cast<std::uint32_t>(below(1200));
            if (leaving || filters_.contains(filter)) {
                if (index_.remove(filter) != (filters_.erase(filter) > 0)) fail("remove");
            } else {
                filters_[filter] = some_filter();
                index_.add(filter, filters_[filter]);
            }
            if (step % 50 == 0) compare();
        }
        if (index_.bytes() == 0) fail("bytes");
    }

private:
    [[noreturn]] static void fail(const char* what) {
        std::fprintf(stderr, "filters: violated: %s\n", what);
        std::exit(1);
    }

    int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }

    std::string word() { return std::string(1, static_cast<char>('a' + below(3))) + std::to_string(below(20)); }

    Constraint number(std::uint32_t field) {
        Constraint made;
        made.field = field;
        made.absent = below(5) == 0;
        const std::int64_t low = below(200) - 100;
        made.spans.push_back({below(10) ? low : INT64_MIN, below(10) ? low + below(30) : INT64_MAX});
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
            if (below(6)) event[field] = {Value::Sort::number, below(10) ? below(220) - 110 : 2002, {}};
            if (below(6)) event[field + 2] = {Value::Sort::text, 0, words[field]};
        }
        std::vector<std::uint32_t> expected;
        for (const auto& [filter, conjunctions] : filters_) {
            const bool matched = std::any_of(conjunctions.begin(), conjunctions.end(), [&](const Conjunction& each) {
                return std::all_of(each.begin(), each.end(), [&](const Constraint& c) { return c.allows(event[c.field]); });
            });
            if (matched) expected.push_back(filter);
        }
        std::vector<std::uint32_t> found = index_.match(event);
        std::sort(found.begin(), found.end());
        if (found != expected) fail("match");
    }

    std::mt19937 random_;
    Index index_;
    std::map<std::uint32_t, std::vector<Conjunction>> filters_;
};

}  // namespace

int main() {
    for (unsigned seed = 1; seed <= 5; ++seed) Crowd(seed).live(9000);
    std::puts("filters: nothing violated");
}
