#pragma once
// Includes fmt, if libfmt is installed, with formatters for the types that programs print.
//
//     fmt::print("{} of {:>20}: {}\n", id, key, error.name());     // a StringRef with \x.. for unprintable bytes
//
//     template <>
//     struct fmt::formatter<Point> : FormatUsingTraceable<Point> {};      // your type, by its Traceable

#include "../base/to_text.h"
#include "../flow.h"

#if __has_include(<fmt/format.h>)

#include <fmt/format.h>

#include <string>
#include <string_view>

/// Formats a value as the text that trace events show.
template <class T>
struct FormatUsingTraceable : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(T const& value, Context& context) const {
        std::string text = flow::toText(value);
        return fmt::formatter<std::string_view>::format(text, context);
    }
};

template <>
struct fmt::formatter<flow::StringRef> : FormatUsingTraceable<flow::StringRef> {};
template <>
struct fmt::formatter<flow::UID> : FormatUsingTraceable<flow::UID> {};
template <>
struct fmt::formatter<flow::Error> : FormatUsingTraceable<flow::Error> {};
template <class T>
struct fmt::formatter<flow::Standalone<T>> : fmt::formatter<T> {};
template <class T>
struct fmt::formatter<flow::Optional<T>> : FormatUsingTraceable<flow::Optional<T>> {};

#else

// If fmt is missing, the compiler reports it where a program uses these names.
namespace fmt {

template <class T>
struct formatter {};
template <class... Arguments>
void print(Arguments const&...) {
    static_assert(sizeof...(Arguments) == 0, "fmt::print: libfmt is not installed (Debian: libfmt-dev)");
}
template <class... Arguments>
const char* format(Arguments const&...) {
    static_assert(sizeof...(Arguments) == 0, "fmt::format: libfmt is not installed (Debian: libfmt-dev)");
    return "";
}

} // namespace fmt

template <class T>
struct FormatUsingTraceable {};

#endif
