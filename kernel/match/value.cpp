#include "match/value.h"

#include <algorithm>

namespace roamcast::match {

bool fits(const Glob& glob, std::string_view text) {
    const std::string& first = glob.front();
    const std::string& last = glob.back();
    if (glob.size() == 1) return text == first;
    if (text.size() < first.size() + last.size() || !text.starts_with(first) || !text.ends_with(last)) return false;
    std::size_t at = first.size();
    const std::string_view inner = text.substr(0, text.size() - last.size());
    for (std::size_t piece = 1; piece + 1 < glob.size(); ++piece) {
        at = inner.find(glob[piece], at);
        if (at == std::string_view::npos) return false;
        at += glob[piece].size();
    }
    return true;
}

bool Constraint::allows(const Value& value) const {
    if (value.sort == Value::ValueType::missing) return absent;
    if (!text) {
        return std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
            return span.low <= value.number && value.number <= span.high;
        });
    }
    if (listed) return std::find(words.begin(), words.end(), value.text) != words.end();
    const auto matched = [&](const Glob& glob) { return fits(glob, value.text); };
    return std::all_of(like.begin(), like.end(), matched) && std::none_of(unlike.begin(), unlike.end(), matched);
}

std::size_t Constraint::bytes() const {
    std::size_t total = spans.capacity() * sizeof(Span) + words.capacity() * sizeof(std::string);
    const auto of_text = [](const std::string& s) { return s.capacity() > 15 ? s.capacity() + 1 : 0; };
    for (const auto& word : words) total += of_text(word);
    for (const auto* globs : {&like, &unlike}) {
        total += globs->capacity() * sizeof(Glob);
        for (const auto& glob : *globs) {
            total += glob.capacity() * sizeof(std::string);
            for (const auto& piece : glob) total += of_text(piece);
        }
    }
    return total;
}

}  // namespace roamcast::match
