#pragma once
// JSON text for trace events.
//
//     std::string line;
//     appendJsonString(line, "a \"quoted\" name");       // with its quotes
//     appendJsonValue(line, 0.5);
//
// The text is valid UTF-8 without control characters: bytes that are not UTF-8 become U+FFFD.

#include "flow/base/to_text.h"

#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

namespace flow {

void appendJsonString(std::string& out, std::string_view text);

/// True for types that appendJsonValue() does not turn into a string.
template <class T>
inline constexpr bool kIsJsonNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, char> && !Traceable<T>::value;

/// Appends a number or boolean as in JSON, another value as a string by toText(). NaN and infinities become strings.
template <class T>
void appendJsonValue(std::string& out, T const& value) {
    if constexpr (std::is_floating_point_v<T> && kIsJsonNumber<T>) {
        if (!std::isfinite(value))
            return appendJsonString(out, toText(value));
    }
    if constexpr (kIsJsonNumber<T>)
        out += toText(value);
    else
        appendJsonString(out, toText(value));
}

} // namespace flow
