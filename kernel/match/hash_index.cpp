#include "match/hash_index.h"

#include <functional>

namespace roamcast::match {
namespace {

class Hash {
public:
    void take(std::uint64_t part) {
        state_ = (state_ ^ part) * 0x9e3779b97f4a7c15U;
        state_ ^= state_ >> 32;
    }

    void take(const std::vector<std::string>& words) {
        take(words.size());
        for (const std::string& word : words) take(std::hash<std::string>{}(word));
    }

    void take(const std::vector<Glob>& globs) {
        take(globs.size());
        for (const Glob& glob : globs) take(glob);
    }

    std::uint64_t state() const { return state_; }

private:
    std::uint64_t state_ = 0;
};

}  // namespace

std::uint32_t hash_of(const std::vector<Conjunction>& conjunctions) {
    Hash hash;
    for (const Conjunction& conjunction : conjunctions) {
        hash.take(conjunction.size());
        for (const Constraint& constraint : conjunction) {
            hash.take(8ULL * constraint.field + 4 * constraint.absent + 2 * constraint.text + constraint.listed);
            for (const Span& span : constraint.spans) {
                hash.take(static_cast<std::uint64_t>(span.low));
                hash.take(static_cast<std::uint64_t>(span.high));
            }
            if (!constraint.text) continue;
            hash.take(constraint.words);
            hash.take(constraint.like);
            hash.take(constraint.unlike);
        }
    }
    return static_cast<std::uint32_t>(hash.state());
}

}  // namespace roamcast::match
