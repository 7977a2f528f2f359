// The words that filters compare with, each kept once and counted, so that an event's text is looked up once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace roamcast::match {

class Dictionary {
public:
    static constexpr std::int64_t unknown = -1;

    // The number of `word`, used once more.
    std::int64_t hold(const std::string& word) {
        const auto found = numbers_.find(word);
        if (found != numbers_.end()) {
            ++uses_[static_cast<std::size_t>(found->second)];
            return found->second;
        }
        std::int64_t number;
        if (free_.empty()) {
            number = static_cast<std::int64_t>(uses_.size());
            uses_.push_back(0);
            words_.push_back(nullptr);
        } else {
            number = free_.back();
            free_.pop_back();
        }
        uses_[static_cast<std::size_t>(number)] = 1;
        words_[static_cast<std::size_t>(number)] = &numbers_.emplace(word, number).first->first;
        return number;
    }

    void release(std::int64_t number) {
        const auto at = static_cast<std::size_t>(number);
        if (--uses_[at] == 0) {
            numbers_.erase(numbers_.find(*words_[at]));
            words_[at] = nullptr;
            free_.push_back(number);
        }
    }

    std::int64_t find(std::string_view word) const {
        const auto found = numbers_.find(word);
        return found == numbers_.end() ? unknown : found->second;
    }

    const std::string& word(std::int64_t number) const { return *words_[static_cast<std::size_t>(number)]; }

    std::size_t bytes() const {
        std::size_t total = numbers_.bucket_count() * 8 + uses_.capacity() * 4 + words_.capacity() * 8 + free_.capacity() * 8;
        for (const auto& [word, number] : numbers_) total += 64 + (word.capacity() > 15 ? word.capacity() + 17 : 0);
        return total;
    }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    // Nodes of the map do not move, so the words may be pointed at.
    std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> numbers_;
    std::vector<std::uint32_t> uses_;
    std::vector<const std::string*> words_;
    std::vector<std::int64_t> free_;
};

}  // namespace roamcast::match
