#include "match/index.h"

#include <algorithm>

namespace roamcast::match {

void Index::add(std::uint32_t filter, const std::vector<Conjunction>& conjunctions) {
    if (homes_.size() <= filter) {
        homes_.resize(std::max<std::size_t>(filter + 1, homes_.size() + homes_.size() / 2), {nowhere, 0});
    }
    std::vector<Location> homes;
    for (const Conjunction& conjunction : conjunctions) {
        std::vector<std::uint32_t> fields;
        for (const Constraint& constraint : conjunction) fields.push_back(constraint.field);
        const auto next = free_.empty() ? static_cast<std::uint32_t>(partitions_.size()) : free_.back();
        const auto [known, fresh] = by_fields_.try_emplace(fields, next);
        if (fresh) {
            if (free_.empty()) {
                partitions_.emplace_back();
            } else {
                free_.pop_back();
            }
            partitions_[next] = std::make_unique<Partition>(fields, text_, dictionary_);
        }
        settle(known->second);
        homes.push_back({known->second, 0});
    }
    // Only now, since settling moves members.
    for (std::size_t n = 0; n < homes.size(); ++n) {
        homes[n].place = partitions_[homes[n].partition]->add(filter, conjunctions[n]);
    }
    if (homes.size() == 1) {
        homes_[filter] = homes[0];
    } else if (homes.empty()) {
        homes_[filter] = {matches_nothing, 0};
    } else {
        homes_[filter] = {several, filter};
        families_[filter] = std::move(homes);
        if (seen_.size() <= filter) seen_.resize(homes_.size(), 0);
    }
}

bool Index::same(std::uint32_t filter, const std::vector<Conjunction>& conjunctions) const {
    const Location& home = homes_[filter];
    if (home.partition == matches_nothing) return conjunctions.empty();
    const auto equal = [&](const Location& each, const Conjunction& conjunction) {
        return partitions_[each.partition]->same(each.place, conjunction);
    };
    if (home.partition != several) return conjunctions.size() == 1 && equal(home, conjunctions[0]);
    const std::vector<Location>& homes = families_.at(filter);
    return std::equal(homes.begin(), homes.end(), conjunctions.begin(), conjunctions.end(), equal);
}

bool Index::remove(std::uint32_t filter) {
    if (filter >= homes_.size() || homes_[filter].partition == nowhere) return false;
    const Location home = homes_[filter];
    homes_[filter] = {nowhere, 0};
    if (home.partition == matches_nothing) return true;
    std::vector<Location> homes{home};
    if (home.partition == several) {
        homes = std::move(families_[filter]);
        families_.erase(filter);
    }
    for (const Location& each : homes) partitions_[each.partition]->remove(each.place);
    for (const Location& each : homes) {
        if (!partitions_[each.partition]) continue;  // two conjunctions lived there, and it is gone
        if (partitions_[each.partition]->living() == 0) {
            drop(each.partition);
        } else {
            settle(each.partition);
        }
    }
    return true;
}

void Index::drop(std::uint32_t partition) {
    partitions_[partition]->forget_all();
    by_fields_.erase(partitions_[partition]->fields());
    partitions_[partition].reset();
    free_.push_back(partition);
}

void Index::settle(std::uint32_t partition) {
    if (!partitions_[partition]->sparse()) return;
    partitions_[partition]->compact([&](std::uint32_t owner, std::uint32_t from, std::uint32_t to) {
        Location& home = homes_[owner];
        if (home.partition != several) {
            home.place = to;
            return;
        }
        for (Location& each : families_[owner]) {
            if (each.partition == partition && each.place == from) {
                each.place = to;
                return;
            }
        }
    });
}

const std::vector<std::uint32_t>& Index::match(const std::vector<Value>& event) {
    found_.clear();
    if (++turn_ == 0) {
        std::fill(seen_.begin(), seen_.end(), 0);
        turn_ = 1;
    }
    for (std::size_t field = 0; field < event.size(); ++field) {
        if (event[field].sort == Value::ValueType::text) known_[field] = dictionary_.find(event[field].text);
    }
    for (const auto& partition : partitions_) {
        if (!partition) continue;
        partition->match(event, known_, [&](std::uint32_t owner) {
            if (!families_.empty() && homes_[owner].partition == several) {
                if (seen_[owner] == turn_) return;
                seen_[owner] = turn_;
            }
            found_.push_back(owner);
        });
    }
    return found_;
}

std::size_t Index::bytes() const {
    std::size_t total = sizeof(*this) + dictionary_.bytes() + homes_.capacity() * sizeof(Location) + seen_.capacity() * 4 +
                        found_.capacity() * 4 + partitions_.capacity() * 8 + free_.capacity() * 4;
    for (const auto& partition : partitions_) {
        if (partition) total += partition->bytes() + 80;
    }
    for (const auto& [filter, homes] : families_) total += 80 + homes.capacity() * sizeof(Location);
    return total;
}

}  // namespace roamcast::match
