// Who wants which filter. Those who want the same share one entry of the index: it is looked up once, and all of them are handed out.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "match/index.h"
#include "match/hash_index.h"

namespace roamcast::match {

class SubscriberIndex {
public:
    using Key = void*;  // what is handed out: the caller's own

    // `text` says for each field whether it is text.
    explicit SubscriberIndex(std::vector<bool> text) : index_(std::move(text)) {}

    // Returns the number by which it leaves; the numbers of those who left are used again.
    std::uint32_t add(Key key, const std::vector<Conjunction>& wanted);

    // The key that is removed; null if no subscriber has that number.
    Key remove(std::uint32_t member);

    // The keys whose filter matches, in an order that depends only on what was added and removed.
    const std::vector<Key>& match(const std::vector<Value>& event);

    template <class Visit>
    void visit(Visit visit) const;

    // How many different filters are wanted.
    std::size_t entries() const { return entries_.size() - free_entries_.size(); }

    std::size_t bytes() const;

private:
    static constexpr std::uint32_t nowhere = UINT32_MAX;
    static constexpr std::uint32_t alone = UINT32_MAX;

    struct Member {
        std::uint32_t entry;
        std::uint32_t place;  // in the group
    };
    struct Entry {
        Key key;               // if one subscriber alone has it; null otherwise
        std::uint32_t member;  // the same
        std::uint32_t group;   // or alone
    };
    struct Group {
        std::vector<Key> keys;
        std::vector<std::uint32_t> members;
    };

    void enter(std::uint32_t entry, std::uint32_t member, Key key);
    Key leave(std::uint32_t entry, std::uint32_t place);

    Index index_;
    HashIndex same_;
    std::vector<Member> members_;
    std::vector<std::uint32_t> free_members_;
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> hashes_;  // by entry
    std::vector<std::uint32_t> free_entries_;
    std::vector<Group> groups_;
    std::vector<std::uint32_t> free_groups_;
    std::vector<std::uint32_t> shared_;  // groups found, while one event is matched
    std::vector<Key> chosen_;
};

template <class Visit>
void SubscriberIndex::visit(Visit visit) const {
    for (const Entry& entry : entries_) {
        if (entry.key) visit(entry.key);
    }
    for (const Group& group : groups_) {
        for (const Key key : group.keys) visit(key);
    }
}

}  // namespace roamcast::match
