#include "match/column.h"

#include <algorithm>

namespace roamcast::match {
namespace {

// At most `most_cells - 1` borders: all distinct ends, or where their crowd is, filled up with others evenly.
template <class Key>
std::vector<Key> choose(std::vector<Key> ends) {
    std::sort(ends.begin(), ends.end());
    std::vector<Key> distinct;
    std::unique_copy(ends.begin(), ends.end(), std::back_inserter(distinct));
    constexpr std::size_t most = most_cells - 1;
    if (distinct.size() <= most) return distinct;
    std::vector<Key> chosen;
    for (std::size_t n = 0; n < most; ++n) {
        const Key& key = ends[(2 * n + 1) * ends.size() / (2 * most)];
        if (chosen.empty() || chosen.back() < key) chosen.push_back(key);
    }
    const std::size_t crowd = chosen.size();
    for (std::size_t n = 0; chosen.size() < most && n < most; ++n) {
        const Key& key = distinct[(2 * n + 1) * distinct.size() / (2 * most)];
        if (!std::binary_search(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(crowd), key)) chosen.push_back(key);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
}

// No UTF-8 text has the byte 0xff, so this comes after every text that begins with `prefix`.
std::string beyond(const std::string& prefix) { return prefix + '\xff'; }

const std::string* longest_prefix(const Constraint& constraint) {
    const std::string* longest = nullptr;
    for (const Glob& glob : constraint.like) {
        if (!glob.front().empty() && (!longest || longest->size() < glob.front().size())) longest = &glob.front();
    }
    return longest;
}

}  // namespace

void Column::cut(const std::vector<Constraint>& sample, std::size_t members) {
    std::vector<std::int64_t> numbers;
    std::vector<std::string> texts;
    for (const Constraint& constraint : sample) {
        for (const Span& span : constraint.spans) {
            if (span.low != INT64_MIN) numbers.push_back(span.low);
            if (span.high != INT64_MAX) numbers.push_back(span.high + 1);
        }
        for (const std::string& word : constraint.words) {
            texts.push_back(word);
            texts.push_back(word + '\0');
        }
        if (const std::string* prefix = longest_prefix(constraint)) {
            texts.push_back(*prefix);
            texts.push_back(beyond(*prefix));
        }
    }
    numbers_ = choose(std::move(numbers));
    texts_ = choose(std::move(texts));
    stride_ = (members + 63) / 64;
    words_.assign(stride_ * (missing() + 1), 0);
    words_.shrink_to_fit();
}

std::size_t Column::cell_of(std::int64_t number) const {
    return static_cast<std::size_t>(std::upper_bound(numbers_.begin(), numbers_.end(), number) - numbers_.begin());
}

std::size_t Column::cell_of(std::string_view text) const {
    return static_cast<std::size_t>(std::upper_bound(texts_.begin(), texts_.end(), text) - texts_.begin());
}

std::size_t Column::cell(const Value& value) const {
    if (value.sort == Value::ValueType::missing) return missing();
    return text_ ? cell_of(value.text) : cell_of(value.number);
}

template <class Visit>
void Column::visit(const Constraint& constraint, Visit visit) const {
    if (constraint.absent) visit(missing(), missing());
    for (const Span& span : constraint.spans) visit(cell_of(span.low), cell_of(span.high));
    if (!text_) return;
    if (constraint.listed) {
        for (const std::string& word : constraint.words) visit(cell_of(word), cell_of(word));
    } else if (const std::string* prefix = longest_prefix(constraint)) {
        visit(cell_of(*prefix), cell_of(beyond(*prefix)));
    } else {
        visit(std::size_t{0}, missing() - 1);
    }
}

void Column::set(std::size_t member, const Constraint& constraint) {
    const std::uint64_t mask = std::uint64_t{1} << (member % 64);
    visit(constraint, [&](std::size_t first, std::size_t last) {
        for (std::size_t cell = first; cell <= last; ++cell) words_[cell * stride_ + member / 64] |= mask;
    });
}

std::size_t Column::bytes() const {
    std::size_t total = sizeof(*this) + words_.capacity() * 8 + numbers_.capacity() * 8 + texts_.capacity() * sizeof(std::string);
    for (const std::string& text : texts_) total += text.capacity() > 15 ? text.capacity() + 1 : 0;
    return total;
}

}  // namespace roamcast::match
