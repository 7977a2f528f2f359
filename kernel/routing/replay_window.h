// The numbers accepted from one sender: the highest, and a flag for each of those below it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace roamcast {

class ReplayWindow {
public:
    static constexpr std::uint64_t window = 1024;  // numbers behind the highest that are tracked; older ones are refused

    ReplayWindow() { accepted_.fill(true); }

    // Refuses all numbers up to `floor`.
    explicit ReplayWindow(std::uint64_t floor) : ReplayWindow() {
        highest_ = floor;
        empty_ = false;
    }

    bool empty() const { return empty_; }
    std::uint64_t highest() const { return highest_; }

    // Whether `accept` would refuse the number.
    bool has(std::uint64_t number) const {
        if (empty_ || number > highest_) return false;
        return highest_ - number >= window || accepted_[place(number)];
    }

    // Notes a number; returns whether it is new and not too old.
    bool accept(std::uint64_t number) {
        if (empty_ || number > highest_) {
            const std::uint64_t skipped = empty_ ? number : number - highest_ - 1;
            if (skipped >= window - 1) {
                accepted_.fill(false);
            } else {
                for (std::uint64_t before = number - skipped; before < number; ++before) accepted_[place(before)] = false;
            }
            highest_ = number;
            empty_ = false;
        } else if (has(number)) {
            return false;
        }
        accepted_[place(number)] = true;
        return true;
    }

private:
    static std::size_t place(std::uint64_t number) { return static_cast<std::size_t>(number % window); }

    std::uint64_t highest_ = 0;
    bool empty_ = true;  // nothing was accepted, and there is no floor
    std::array<bool, window> accepted_{};
};

}  // namespace roamcast
