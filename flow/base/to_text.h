#pragma once
// toText(value): any value as text for people, for the messages of assertions and the details of trace events.
//
//     toText(7)  "7"      toText(0.5)  "0.5"      toText(true)  "true"      toText(timed_out())  "timed_out"
//
//     template <>
//     struct Traceable<Point> : std::true_type {              // the text of a type of the program
//         static std::string toString(Point const& p) { ... }
//     };
//
// Without a Traceable, toText() uses the first of these that the type has: a conversion to std::string_view,
// printable(), toString(), code() and name(), present() and get(), begin() and end(). Otherwise: the size in bytes.

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

namespace flow {

/// Converts a T to text. A specialisation by a program derives from std::true_type and has a static function
/// `std::string toString(T const&)`.
template <class T>
struct Traceable : std::false_type {};

template <class T>
std::string toText(T const& value);

namespace detail {

template <class T>
std::string numberToText(T value) {
    char text[128]; // enough for the shortest form of a long double, the longest number
    auto [end, failure] = std::to_chars(text, text + sizeof text, value);
    return failure == std::errc() ? std::string(text, end) : std::string("?");
}

template <class T>
std::string rangeToText(T const& range) {
    std::string text = "[";
    for (auto const& element : range) {
        if (text.size() > 1)
            text += ", ";
        text += toText(element);
    }
    return text + "]";
}

} // namespace detail

template <class T>
std::string toText(T const& value) {
    if constexpr (Traceable<T>::value)
        return Traceable<T>::toString(value);
    else if constexpr (std::is_same_v<T, bool>)
        return value ? "true" : "false";
    else if constexpr (std::is_same_v<T, char>)
        return std::string(1, value);
    else if constexpr (std::is_arithmetic_v<T>)
        return detail::numberToText(value);
    else if constexpr (std::is_enum_v<T>)
        return toText(static_cast<std::underlying_type_t<T>>(value));
    else if constexpr (std::is_null_pointer_v<T>)
        return "nullptr";
    else if constexpr (std::is_pointer_v<T> && std::is_convertible_v<T const&, char const*>)
        return value ? std::string(value) : std::string("nullptr");
    else if constexpr (std::is_convertible_v<T const&, std::string_view>)
        return std::string(std::string_view(value));
    else if constexpr (std::is_pointer_v<T>) {
        char text[32];
        std::snprintf(text, sizeof text, "%p", reinterpret_cast<void const*>(value));
        return text;
    } else if constexpr (requires { std::string(value.printable()); })
        return value.printable();
    else if constexpr (requires { std::string(value.toString()); })
        return value.toString();
    else if constexpr (requires {
                           value.code();
                           std::string(value.name());
                       }) // an Error
        return value.name();
    else if constexpr (requires { value.present(), value.get(); })
        return value.present() ? toText(value.get()) : std::string("[not set]");
    else if constexpr (requires { value.begin() != value.end(); })
        return detail::rangeToText(value);
    else
        return "(" + std::to_string(sizeof(T)) + " bytes)";
}

} // namespace flow
