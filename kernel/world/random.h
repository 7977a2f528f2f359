// One seeded generator per purpose and node, so that adding a draw in one place disturbs no other.
#pragma once

#include <cstdint>

namespace roamcast {

// The purpose of a stream of random numbers.
enum class Purpose : std::uint64_t { Movement = 1, Backoff = 2, Shadowing = 3, Fading = 4, BitErrors = 5 };

// The output function of splitmix64.
inline std::uint64_t scramble(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

// A random number that belongs to three others, and depends on nothing else: not on what was drawn before.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const std::uint64_t first = scramble(a + 0x9e3779b97f4a7c15ULL * b);
    return scramble(first ^ (c * 0xd1342543de82ef95ULL + 0x632be59bd9b4e019ULL));
}

// A random word as a number in [0, 1).
inline double uniform(std::uint64_t word) { return static_cast<double>(word >> 11) * 0x1.0p-53; }

// xoshiro256++ (Blackman and Vigna), seeded through splitmix64.
class Random {
public:
    Random() = default;

    Random(std::uint64_t seed, Purpose purpose, std::uint64_t node) {
        std::uint64_t mixed = seed;
        mixed = split(mixed) ^ (static_cast<std::uint64_t>(purpose) * 0x9e3779b97f4a7c15ULL);
        mixed = split(mixed) ^ (node * 0xd1342543de82ef95ULL);
        for (auto& word : state_) word = split(mixed);
    }

    std::uint64_t next() {
        const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
        const std::uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = rotate(state_[3], 45);
        return result;
    }

    // Uniform in [0, 1).
    double uniform() { return roamcast::uniform(next()); }

    double uniform(double low, double high) { return low + (high - low) * uniform(); }

    // Uniform over 0 .. bound-1, by the high half of a product: no division, bias below 2^-32 here.
    std::uint32_t below(std::uint32_t bound) {
        return static_cast<std::uint32_t>(((next() >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
    }

private:
    static std::uint64_t rotate(std::uint64_t value, int by) { return (value << by) | (value >> (64 - by)); }

    static std::uint64_t split(std::uint64_t& state) { return scramble(state += 0x9e3779b97f4a7c15ULL); }

    std::uint64_t state_[4] = {1, 2, 3, 4};
};

}  // namespace roamcast
