#include "match/partition.h"

#include <algorithm>

namespace roamcast::match {
namespace {

constexpr std::size_t sample_size = 8192;  // constraints looked at to choose the cells

}  // namespace

Partition::Partition(std::vector<std::uint32_t> fields, const std::vector<bool>& text, Dictionary& dictionary)
    : fields_(std::move(fields)), dictionary_(&dictionary) {
    for (const std::uint32_t field : fields_) columns_.emplace_back(text[field]);
}

std::uint32_t Partition::add(std::uint32_t owner, const Conjunction& conjunction) {
    const std::size_t width = fields_.size();
    std::size_t place;
    // With bits, new members go to the end, where neighbours share words; the dead wait for `compact`.
    if (!built_ && !free_.empty()) {
        place = free_.back();
        free_.pop_back();
        forget(place);
    } else {
        place = owners_.size();
        owners_.push_back(0);
        slots_.resize(slots_.size() + width);
        flags_.resize(flags_.size() + width);
        if (place % 64 == 0) alive_.push_back(0);
    }
    owners_[place] = owner;
    store(place, conjunction);
    alive_[place / 64] |= std::uint64_t{1} << (place % 64);
    ++living_;
    if (built_ && place < room_) {
        for (std::size_t column = 0; column < width; ++column) columns_[column].set(place, conjunction[column]);
    } else if (place >= few) {
        build(owners_.size() * 2);
    }
    return static_cast<std::uint32_t>(place);
}

void Partition::remove(std::uint32_t place) {
    alive_[place / 64] &= ~(std::uint64_t{1} << (place % 64));
    free_.push_back(place);
    --living_;
}

void Partition::store(std::size_t place, const Conjunction& conjunction) {
    for (std::size_t column = 0; column < fields_.size(); ++column) {
        const Constraint& constraint = conjunction[column];
        Slot& slot = slots_[place * fields_.size() + column];
        std::uint8_t& flag = flags_[place * fields_.size() + column];
        if (!constraint.text && constraint.spans.size() == 1) {
            slot = {constraint.spans[0].low, constraint.spans[0].high};
            flag = span;
        } else if (constraint.text && constraint.listed && constraint.words.size() == 1) {
            slot = {dictionary_->hold(constraint.words[0]), 0};
            flag = word;
        } else {
            std::uint32_t at;
            if (free_large_.empty()) {
                at = static_cast<std::uint32_t>(large_.size());
                large_.emplace_back();
            } else {
                at = free_large_.back();
                free_large_.pop_back();
            }
            large_[at] = std::make_unique<Constraint>(constraint);
            slot = {at, 0};
            flag = large;
        }
        if (constraint.absent) flag |= absent;
    }
}

void Partition::forget(std::size_t place) {
    for (std::size_t at = place * fields_.size(); at < (place + 1) * fields_.size(); ++at) {
        if (flags_[at] & word) dictionary_->release(slots_[at].low);
        if (flags_[at] & large) {
            large_[static_cast<std::size_t>(slots_[at].low)].reset();
            free_large_.push_back(static_cast<std::uint32_t>(slots_[at].low));
        }
    }
}

void Partition::forget_all() {
    for (const std::uint32_t dead : free_) forget(dead);
    free_.clear();
}

Constraint Partition::restore(std::size_t place, std::size_t column) const {
    const std::size_t at = place * fields_.size() + column;
    if (flags_[at] & large) return *large_[static_cast<std::size_t>(slots_[at].low)];
    Constraint constraint;
    constraint.field = fields_[column];
    constraint.absent = flags_[at] & absent;
    if (flags_[at] & word) {
        constraint.text = constraint.listed = true;
        constraint.words = {dictionary_->word(slots_[at].low)};
    } else {
        constraint.spans = {{slots_[at].low, slots_[at].high}};
    }
    return constraint;
}

bool Partition::same(std::uint32_t place, const Conjunction& conjunction) const {
    if (conjunction.size() != fields_.size()) return false;
    for (std::size_t column = 0; column < fields_.size(); ++column) {
        const Constraint& constraint = conjunction[column];
        const std::size_t at = place * fields_.size() + column;
        const Slot& slot = slots_[at];
        if (constraint.field != fields_[column] || constraint.absent != bool(flags_[at] & absent)) return false;
        if (flags_[at] & large) {
            if (constraint != *large_[static_cast<std::size_t>(slot.low)]) return false;
        } else if (flags_[at] & word) {
            if (constraint.words.size() != 1 || constraint.words[0] != dictionary_->word(slot.low)) return false;
        } else if (constraint.spans.size() != 1 || constraint.spans[0] != Span{slot.low, slot.high}) {
            return false;
        }
    }
    return true;
}

bool Partition::verify(std::size_t place, const std::vector<Value>& event, const std::vector<std::int64_t>& known) const {
    const std::size_t width = fields_.size();
    for (std::size_t column = 0; column < width; ++column) {
        const std::size_t at = place * width + column;
        const Value& value = event[fields_[column]];
        if (value.sort == Value::ValueType::missing) {
            if (!(flags_[at] & absent)) return false;
        } else if (flags_[at] & word) {
            if (known[fields_[column]] != slots_[at].low) return false;
        } else if (flags_[at] & large) {
            if (!large_[static_cast<std::size_t>(slots_[at].low)]->allows(value)) return false;
        } else if (value.number < slots_[at].low || slots_[at].high < value.number) {
            return false;
        }
    }
    return true;
}

void Partition::build(std::size_t members) {
    const std::size_t width = fields_.size();
    room_ = std::max((members + 63) / 64 * 64, 2 * few);
    built_ = true;
    const std::size_t step = owners_.size() / sample_size + 1;
    for (std::size_t column = 0; column < width; ++column) {
        std::vector<Constraint> sample;
        for (std::size_t place = 0; place < owners_.size(); place += step) sample.push_back(restore(place, column));
        columns_[column].cut(sample, room_);
        for (std::size_t place = 0; place < owners_.size(); ++place) {
            columns_[column].set(place, restore(place, column));
        }
    }
}

std::size_t Partition::bytes() const {
    std::size_t total = sizeof(*this) + fields_.capacity() * 4 + alive_.capacity() * 8 + owners_.capacity() * 4 +
                        slots_.capacity() * sizeof(Slot) + flags_.capacity() + free_.capacity() * 4 +
                        large_.capacity() * 8 + free_large_.capacity() * 4;
    for (const Column& column : columns_) total += column.bytes();
    for (const auto& constraint : large_) {
        if (constraint) total += sizeof(Constraint) + 16 + constraint->bytes();
    }
    return total;
}

}  // namespace roamcast::match
