#pragma once
// Numbers from text, under the old header name.
//
//     Optional<int> port = parseNumber<int>("4500"_sr);            // the whole text
//     int end = 0;
//     Optional<double> size = parseNumberPrefix<double>("2.5 KiB"_sr, 10, &end);   // 2.5, and 3
//
// The functions parse text in the same way as strtoll(), strtoull() and strtod(): blanks and a sign may come first,
// "0x10" is 16 in base 0, and "-1" as a std::uint64_t is the largest number. If the number does not fit into the type,
// the result is empty.

#include "../../flow.h"

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>

namespace flow::compat {

template <class T>
auto convertNumber(char const* text, char** end, int base) {
    if constexpr (std::is_same_v<T, float>)
        return std::strtof(text, end);
    else if constexpr (std::is_same_v<T, double>)
        return std::strtod(text, end);
    else if constexpr (std::is_same_v<T, long double>)
        return std::strtold(text, end);
    else if constexpr (std::is_signed_v<T>)
        return std::strtoll(text, end, base);
    else
        return std::strtoull(text, end, base);
}

} // namespace flow::compat

/// Parses the number at the start, and sets `*consumed` to its length. The base is 0 or 2 .. 36; 10 for floating point.
template <class T>
flow::Optional<T> parseNumberPrefix(flow::StringRef text, int base = 10, int* consumed = nullptr) {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    bool isBase = std::is_floating_point_v<T> ? base == 10 : base == 0 || (base >= 2 && base <= 36);
    if (!isBase)
        return {};
    std::string copy = text.toString(); // with a zero at its end
    char* end = nullptr;
    errno = 0;
    auto number = flow::compat::convertNumber<T>(copy.c_str(), &end, base);
    if (errno == ERANGE || end == copy.c_str())
        return {};
    if constexpr (std::is_integral_v<T>) {
        if (number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max())
            return {};
    }
    if (consumed)
        *consumed = static_cast<int>(end - copy.c_str());
    return static_cast<T>(number);
}
/// Like parseNumberPrefix(), but returns nothing if text follows the number.
template <class T>
flow::Optional<T> parseNumber(flow::StringRef text, int base = 10) {
    int end = 0;
    flow::Optional<T> number = parseNumberPrefix<T>(text, base, &end);
    return end == text.size() ? number : flow::Optional<T>();
}
