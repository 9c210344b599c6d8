#pragma once
// UTF-8, strictly (RFC 3629): no overlong forms, no surrogates, nothing beyond U+10FFFF.
//
//     if (!isUtf8(text))
//         refuse(text);

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace flow {

/// Returns the length in bytes of the character at the start of `text`; 0 if it is not UTF-8. `text` must not be empty.
inline std::size_t utf8CharacterBytes(std::string_view text) {
    auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    std::uint8_t first = byte(0);
    std::size_t count = first < 0x80 ? 1 : first >= 0xC2 && first < 0xE0 ? 2 : (first >> 4) == 0xE ? 3 : 4;
    if (first >= 0x80 && (first < 0xC2 || first > 0xF4 || text.size() < count))
        return 0;
    for (std::size_t i = 1; i < count; ++i)
        if ((byte(i) & 0xC0) != 0x80)
            return 0;
    if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) || // overlong; surrogates
        (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F))   // overlong; beyond Unicode
        return 0;
    return count;
}

inline bool isUtf8(std::string_view text) {
    while (!text.empty()) {
        std::size_t count = utf8CharacterBytes(text);
        if (count == 0)
            return false;
        text.remove_prefix(count);
    }
    return true;
}

} // namespace flow
