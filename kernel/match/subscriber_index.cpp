#include "match/subscriber_index.h"

namespace roamcast::match {
namespace {

// Matches lie far apart in memory: the one so many steps ahead is prefetched.
constexpr std::size_t ahead = 16;

// A place that is free again, or a new one at the end.
template <class Item>
std::uint32_t take(std::vector<std::uint32_t>& free, std::vector<Item>& items) {
    if (free.empty()) {
        items.emplace_back();
        return static_cast<std::uint32_t>(items.size() - 1);
    }
    const std::uint32_t place = free.back();
    free.pop_back();
    return place;
}

}  // namespace

std::uint32_t SubscriberIndex::add(Key key, const std::vector<Conjunction>& wanted) {
    const std::uint32_t hash = hash_of(wanted);
    std::uint32_t entry = same_.find(hash, [&](std::uint32_t each) { return index_.same(each, wanted); });
    const std::uint32_t member = take(free_members_, members_);
    if (entry != HashIndex::none) {
        enter(entry, member, key);
        return member;
    }
    entry = take(free_entries_, entries_);
    if (hashes_.size() < entries_.size()) hashes_.emplace_back();
    index_.add(entry, wanted);
    same_.insert(hash, entry);
    hashes_[entry] = hash;
    entries_[entry] = {key, member, alone};
    members_[member] = {entry, 0};
    return member;
}

void SubscriberIndex::enter(std::uint32_t entry, std::uint32_t member, Key key) {
    Entry& shared = entries_[entry];
    if (shared.group == alone) {
        shared.group = take(free_groups_, groups_);
        groups_[shared.group].keys.assign(1, std::exchange(shared.key, nullptr));
        groups_[shared.group].members.assign(1, shared.member);
    }
    Group& group = groups_[shared.group];
    members_[member] = {entry, static_cast<std::uint32_t>(group.keys.size())};
    group.keys.push_back(key);
    group.members.push_back(member);
}

SubscriberIndex::Key SubscriberIndex::remove(std::uint32_t member) {
    if (member >= members_.size() || members_[member].entry == nowhere) return nullptr;
    const auto [entry, place] = std::exchange(members_[member], {nowhere, 0});
    free_members_.push_back(member);
    if (entries_[entry].group != alone) return leave(entry, place);
    const Key key = std::exchange(entries_[entry].key, nullptr);
    same_.erase(hashes_[entry], entry);
    index_.remove(entry);
    free_entries_.push_back(entry);
    return key;
}

// The last of a group takes the place of who leaves; with one left, there is no group.
SubscriberIndex::Key SubscriberIndex::leave(std::uint32_t entry, std::uint32_t place) {
    Entry& shared = entries_[entry];
    Group& group = groups_[shared.group];
    const Key key = group.keys[place];
    group.keys[place] = group.keys.back();
    group.members[place] = group.members.back();
    group.keys.pop_back();
    group.members.pop_back();
    if (place < group.members.size()) members_[group.members[place]].place = place;
    if (group.keys.size() == 1) {
        free_groups_.push_back(shared.group);
        shared = {group.keys[0], group.members[0], alone};
        group = {};
    }
    return key;
}

const std::vector<SubscriberIndex::Key>& SubscriberIndex::match(const std::vector<Value>& event) {
    const std::vector<std::uint32_t>& found = index_.match(event);
    chosen_.clear();
    shared_.clear();
    for (std::size_t n = 0; n < found.size(); ++n) {
        if (n + ahead < found.size()) __builtin_prefetch(entries_.data() + found[n + ahead]);
        const Entry& entry = entries_[found[n]];
        if (entry.group == alone) {
            chosen_.push_back(entry.key);
        } else {
            shared_.push_back(entry.group);
        }
    }
    for (std::size_t n = 0; n < shared_.size(); ++n) {
        if (n + 2 * ahead < shared_.size()) __builtin_prefetch(groups_.data() + shared_[n + 2 * ahead]);
        if (n + ahead < shared_.size()) __builtin_prefetch(groups_[shared_[n + ahead]].keys.data());
        const std::vector<Key>& keys = groups_[shared_[n]].keys;
        chosen_.insert(chosen_.end(), keys.begin(), keys.end());
    }
    return chosen_;
}

std::size_t SubscriberIndex::bytes() const {
    std::size_t total = sizeof(*this) - sizeof(index_) + index_.bytes() + same_.bytes() + members_.capacity() * sizeof(Member) +
                        entries_.capacity() * sizeof(Entry) + groups_.capacity() * sizeof(Group) + chosen_.capacity() * sizeof(Key);
    for (const auto* numbers : {&free_members_, &hashes_, &free_entries_, &free_groups_, &shared_}) total += numbers->capacity() * 4;
    for (const Group& group : groups_) total += group.keys.capacity() * sizeof(Key) + group.members.capacity() * 4;
    return total;
}

}  // namespace roamcast::match
