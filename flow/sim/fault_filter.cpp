#include "flow/sim/fault_filter.h"

#include <charconv>
#include <stdexcept>

namespace flow {
namespace {

std::uint64_t numberOf(std::string_view text) {
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw std::invalid_argument("no number: '" + std::string(text) + "'");
    return value;
}

FaultKind kindOf(std::string_view name) {
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
        if (faultName(FaultKind(kind)) == name)
            return FaultKind(kind);
    throw std::invalid_argument("no fault of the name '" + std::string(name) + "'");
}

} // namespace

SomeFaults SomeFaults::parse(std::string_view text) {
    SomeFaults some;
    while (!text.empty()) {
        std::string_view item = text.substr(0, text.find(','));
        text.remove_prefix(std::min(item.size() + 1, text.size()));
        std::size_t colon = item.find(':');
        FaultKind kind = kindOf(item.substr(0, colon));
        if (colon == std::string_view::npos) {
            some.add(kind);
            continue;
        }
        item.remove_prefix(colon + 1);
        std::size_t dots = item.find("..");
        std::uint64_t first = numberOf(item.substr(0, dots));
        some.add(kind, first, dots == std::string_view::npos ? first : numberOf(item.substr(dots + 2)));
    }
    return some;
}

void SomeFaults::add(FaultKind kind, std::uint64_t first, std::uint64_t last) {
    auto& some = ranges_[static_cast<std::size_t>(kind)];
    if (!some.empty() && first != 0 && some.back().last == first - 1)
        some.back().last = last;
    else
        some.push_back({first, last});
}

std::string SomeFaults::toString() const {
    std::string text;
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
        for (Range const& each : ranges_[kind]) {
            text += std::string(text.empty() ? "" : ",") + faultName(FaultKind(kind));
            if (each.first == 0 && each.last == kNoLast)
                continue;
            text += ":" + std::to_string(each.first);
            if (each.last != each.first)
                text += ".." + std::to_string(each.last);
        }
    return text;
}

} // namespace flow
