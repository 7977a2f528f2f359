// What routers have seen: bounded sets of numbers that forget the oldest first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace roamcast {

// All sets are kept by number, not by set: a page for each number tells its readers. Whoever asks many readers
// about one number, as a simulator does at every frame, then finds the answers side by side.
class SeenIndex {
public:
    using Reader = std::uint32_t;
    static constexpr Reader nobody = UINT32_MAX;

    // A bit for each reader; in a large network, while only few have the number, a list of those: a packet that
    // goes along a path of twenty among thousands would else take kilobytes.
    class SeenPage {
    public:
        bool has(Reader reader) const {
            if (!bits_.empty()) return reader / 64 < bits_.size() && (bits_[reader / 64] >> reader % 64 & 1) != 0;
            return std::binary_search(few_.begin(), few_.end(), reader);
        }

    private:
        friend class SeenIndex;
        static constexpr std::size_t small = 16;  // words: so many bits are kept at once

        void set(Reader reader, std::size_t readers) {
            const std::size_t words = readers / 64 + 1;
            if (bits_.empty() && words > small && few_.size() < words) {
                few_.insert(std::lower_bound(few_.begin(), few_.end(), reader), reader);
                return;
            }
            if (reader / 64 >= bits_.size()) bits_.resize(words);
            for (const Reader each : std::exchange(few_, {})) mark(each);
            mark(reader);
        }

        void mark(Reader reader) { bits_[reader / 64] |= 1ULL << reader % 64; }

        void clear(Reader reader) {
            if (bits_.empty()) {
                few_.erase(std::lower_bound(few_.begin(), few_.end(), reader));
            } else {
                bits_[reader / 64] &= ~(1ULL << reader % 64);
            }
        }

        std::uint64_t number_ = 0;
        std::size_t users_ = 0;  // readers that have the number, and others who hold the page
        std::vector<std::uint64_t> bits_;
        std::vector<Reader> few_;  // in order; empty once there are bits
    };

    // One for the process, so that a router can make its set without knowing where it runs.
    static SeenIndex& of_process() {
        static SeenIndex ledger;
        return ledger;
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
    explicit Seen(std::size_t limit) : limit_(limit), reader_(ledger().enrol()) {}
    Seen(const Seen&) = delete;
    Seen& operator=(const Seen&) = delete;

    ~Seen() {
        for (const std::uint64_t number : order_) ledger().remove(number, reader_);
        ledger().leave(reader_);
    }

    SeenIndex::Reader reader() const { return reader_; }
    std::size_t size() const { return order_.size(); }
    bool contains(std::uint64_t number) const { return ledger().has(number, reader_); }

    // Whether the number is new; then the oldest makes room, if it must.
    bool add(std::uint64_t number) {
        if (limit_ == 0) return true;
        if (!ledger().add(number, reader_)) return false;
        if (order_.size() < limit_) {
            order_.push_back(number);
        } else {
            ledger().remove(std::exchange(order_[oldest_], number), reader_);
            oldest_ = (oldest_ + 1) % limit_;
        }
        return true;
    }

private:
    static SeenIndex& ledger() { return SeenIndex::of_process(); }

    std::size_t limit_;
    SeenIndex::Reader reader_;
    std::size_t oldest_ = 0;  // in `order_`, once that is full
    std::vector<std::uint64_t> order_;
};

}  // namespace roamcast
