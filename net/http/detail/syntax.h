#pragma once
// Character classes of HTTP (RFC 9110, 5.5 and 5.6), and small functions on text.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace flow::net::http::detail {

enum CharClass : std::uint8_t { kTokenChar = 1, kValueChar = 2, kTargetChar = 4, kHostChar = 8 };

constexpr std::array<std::uint8_t, 256> charClasses() {
    std::array<std::uint8_t, 256> classes{};
    auto add = [&](std::string_view chars, CharClass which) {
        for (char c : chars)
            classes[static_cast<std::uint8_t>(c)] |= which;
    };
    constexpr std::string_view kAlphanumeric = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    add(kAlphanumeric, kTokenChar);
    add("!#$%&'*+-.^_`|~", kTokenChar);
    add(kAlphanumeric, kHostChar);
    add("-._~%!$&'()*+,;=:[]", kHostChar);
    for (unsigned c = 0x21; c < 0x7F; ++c)
        classes[c] |= kTargetChar | kValueChar;
    classes['#'] &= static_cast<std::uint8_t>(~kTargetChar); // a fragment is never sent
    classes[' '] |= kValueChar;
    classes['\t'] |= kValueChar;
    for (unsigned c = 0x80; c <= 0xFF; ++c)
        classes[c] |= kValueChar;
    return classes;
}
inline constexpr std::array<std::uint8_t, 256> kCharClasses = charClasses();

inline bool isOf(CharClass which, char c) {
    return kCharClasses[static_cast<std::uint8_t>(c)] & which;
}
inline bool isAllOf(CharClass which, std::string_view text) {
    std::uint8_t common = which;
    for (char c : text)
        common &= kCharClasses[static_cast<std::uint8_t>(c)];
    return common != 0;
}
inline bool isToken(std::string_view text) {
    return !text.empty() && isAllOf(kTokenChar, text);
}

inline char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}
inline bool isSameName(std::string_view a, std::string_view b) {
    if (a.size() != b.size())
        return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

/// Returns the value of a hexadecimal digit; -1 for another character.
inline int hexDigit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

inline std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
        text.remove_suffix(1);
    return text;
}

/// Calls use(element) for the elements of a list ("a, b") until a call returns true. Returns true if a call did.
template <class Use>
bool anyElement(std::string_view list, Use use) {
    for (;;) {
        std::size_t comma = list.find(',');
        if (use(trimmed(list.substr(0, comma))))
            return true;
        if (comma == std::string_view::npos)
            return false;
        list.remove_prefix(comma + 1);
    }
}

} // namespace flow::net::http::detail
