// Numbers that routers have seen: bounded sets that forget the oldest first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace roamcast {

// All sets are kept by number, not by set: a page for each number has its readers. A simulator, which asks many readers
// about one number at every frame, then finds the answers side by side.
class SeenIndex {
public:
    using Reader = std::uint32_t;
    static constexpr Reader nobody = UINT32_MAX;

    // A bit for each reader; in a large network, while only few have the number, the words that are not 0: a packet
    // that goes along a path of twenty among thousands would else take kilobytes.
    class SeenPage {
    public:
        bool has(Reader reader) const {
            const std::uint32_t at = reader / 64;
            if (!bits_.empty()) return at < bits_.size() && (bits_[at] >> reader % 64 & 1) != 0;
            if (few_.empty()) return false;
            const Word& word = few_[last_not_after(at)];
            return word.at == at && (word.bits >> reader % 64 & 1) != 0;
        }

    private:
        friend class SeenIndex;
        static constexpr std::size_t small = 16;  // words: so many bits are kept at once

        struct Word {
            std::uint32_t at;  // among all words
            std::uint64_t bits;
        };

        // The place in `few_` of the last word that is not after another; 0 if there is none. Without branches, because
        // no processor could guess them.
        std::size_t last_not_after(std::uint32_t at) const {
            std::size_t place = 0;
            for (std::size_t left = few_.size(); left > 1; left -= left / 2) {
                place += few_[place + left / 2].at <= at ? left / 2 : 0;
            }
            return place;
        }

        void set(Reader reader, std::size_t readers) {
            const std::uint32_t at = reader / 64;
            const std::size_t words = readers / 64 + 1;
            const std::uint64_t bit = 1ULL << reader % 64;
            if (bits_.empty() && words > small) {
                const std::size_t place = few_.empty() ? 0 : last_not_after(at);
                if (place < few_.size() && few_[place].at == at) {
                    few_[place].bits |= bit;
                    return;
                }
                if (2 * few_.size() < words) {
                    const bool behind = place < few_.size() && few_[place].at < at;
                    few_.insert(few_.begin() + static_cast<std::ptrdiff_t>(place + (behind ? 1 : 0)), {at, bit});
                    return;
                }
            }
            if (at >= bits_.size()) bits_.resize(words);
            for (const Word& word : std::exchange(few_, {})) bits_[word.at] = word.bits;
            bits_[at] |= bit;
        }

        void clear(Reader reader) {
            const std::uint64_t bit = 1ULL << reader % 64;
            if (bits_.empty()) {
                few_[last_not_after(reader / 64)].bits &= ~bit;
            } else {
                bits_[reader / 64] &= ~bit;
            }
        }

        std::uint64_t number_ = 0;
        std::size_t users_ = 0;  // readers that have the number, and others who hold the page
        std::vector<std::uint64_t> bits_;
        std::vector<Word> few_;  // in order; empty once there are bits
    };

    // One for the process, so that a router can make its set without knowing where it runs.
    static SeenIndex& of_process() {
        static SeenIndex index;
        return index;
    }

    // The page of a number; it stays where it is until it is closed as often as it was opened.
    SeenPage& open(std::uint64_t number) {
        SeenPage& page = pages_[number];
        page.number_ = number;
        ++page.users_;
        return page;
    }

    void close(SeenPage& page) {
        if (--page.users_ == 0) pages_.erase(page.number_);
    }

    bool has(std::uint64_t number, Reader reader) const {
        const auto found = pages_.find(number);
        return found != pages_.end() && found->second.has(reader);
    }

    // Whether it is new to the reader.
    bool add(std::uint64_t number, Reader reader) {
        SeenPage& page = open(number);
        if (page.has(reader)) {
            close(page);
            return false;
        }
        page.set(reader, readers_);
        return true;
    }

    void remove(std::uint64_t number, Reader reader) {
        SeenPage& page = pages_.at(number);
        page.clear(reader);
        close(page);
    }

    Reader enrol() {
        if (free_.empty()) return readers_++;
        const Reader reader = free_.back();
        free_.pop_back();
        return reader;
    }

    void leave(Reader reader) { free_.push_back(reader); }

private:
    std::unordered_map<std::uint64_t, SeenPage> pages_;
    std::vector<Reader> free_;
    Reader readers_ = 0;
};

// One router's set.
class Seen {
public:
    explicit Seen(std::size_t limit) : limit_(limit), reader_(index().enrol()) {}
    Seen(const Seen&) = delete;
    Seen& operator=(const Seen&) = delete;

    ~Seen() {
        for (const std::uint64_t number : order_) index().remove(number, reader_);
        index().leave(reader_);
    }

    SeenIndex::Reader reader() const { return reader_; }
    std::size_t size() const { return order_.size(); }
    bool contains(std::uint64_t number) const { return index().has(number, reader_); }

    // Whether the number is new; then the oldest is removed if the set is full.
    bool add(std::uint64_t number) {
        if (limit_ == 0) return true;
        if (!index().add(number, reader_)) return false;
        if (order_.size() < limit_) {
            order_.push_back(number);
        } else {
            index().remove(std::exchange(order_[oldest_], number), reader_);
            oldest_ = (oldest_ + 1) % limit_;
        }
        return true;
    }

private:
    static SeenIndex& index() { return SeenIndex::of_process(); }

    std::size_t limit_;
    SeenIndex::Reader reader_;
    std::size_t oldest_ = 0;  // in `order_`, once that is full
    std::vector<std::uint64_t> order_;
};

}  // namespace roamcast
