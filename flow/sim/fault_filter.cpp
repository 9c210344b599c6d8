#include "flow/sim/detail/fault_filter.h"

#include <stdexcept>

namespace flow {
namespace {

FaultKind kindOf(std::string_view name) {
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
        if (faultName(FaultKind(kind)) == name)
            return FaultKind(kind);
    throw std::invalid_argument("no fault of the name '" + std::string(name) + "'");
}

} // namespace

SomeFaults SomeFaults::parse(std::string_view text) {
    SomeFaults some;
    for (bool more = !text.empty(); more;) {
        std::string_view item = text.substr(0, text.find(','));
        more = item.size() < text.size(); // there is a comma
        text.remove_prefix(item.size() + more);
        std::size_t colon = item.find(':');
        FaultKind kind = kindOf(item.substr(0, colon));
        some.add(kind, colon == std::string_view::npos ? kAll : NumberRange::parse(item.substr(colon + 1)));
    }
    return some;
}

void SomeFaults::add(FaultKind kind, NumberRange numbers) {
    auto& some = ranges_[static_cast<std::size_t>(kind)];
    if (!some.empty() && numbers.first != 0 && some.back().last == numbers.first - 1)
        some.back().last = numbers.last;
    else
        some.push_back(numbers);
}

std::string SomeFaults::toString() const {
    std::string text;
    for (std::size_t kind = 0; kind < kFaultKinds; ++kind)
        for (NumberRange const& each : ranges_[kind]) {
            text += std::string(text.empty() ? "" : ",") + faultName(FaultKind(kind));
            if (each.first == kAll.first && each.last == kAll.last)
                continue;
            text += ":" + std::to_string(each.first);
            if (each.last != each.first)
                text += ".." + std::to_string(each.last);
        }
    return text;
}

} // namespace flow
