#pragma once
// parseNumber(): reads a whole text as a number, in any locale.
//
//     std::optional<int> port = parseNumber<int>("80");     // nothing for "", "80 ", "+80", "0x50", or a large number
//     std::optional<int> same = parseNumber<int>("50", 16);

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace flow {

template <class Number, class... Base>
std::optional<Number> parseNumber(std::string_view text, Base... base) {
    Number number{};
    char const* end = text.data() + text.size();
    auto [stop, failure] = std::from_chars(text.data(), end, number, base...);
    return failure == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

} // namespace flow
