#include "flow/trace/detail/json.h"

#include <cstdint>

namespace flow {
namespace {

/// Returns the number of bytes of the UTF-8 character with which `text` begins; 0 if it does not begin with one.
std::size_t characterBytes(std::string_view text) {
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

void appendControl(std::string& out, char control) {
    constexpr char kDigits[] = "0123456789abcdef";
    auto byte = static_cast<std::uint8_t>(control);
    switch (control) {
    case '\n':
        out += "\\n";
        break;
    case '\t':
        out += "\\t";
        break;
    case '\r':
        out += "\\r";
        break;
    default:
        out += "\\u00";
        out += kDigits[byte >> 4];
        out += kDigits[byte & 15];
    }
}

} // namespace

void appendJsonString(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        std::size_t count = characterBytes(text);
        char first = text[0];
        if (count == 0) {
            out += "\\ufffd";
            count = 1;
        } else if (count == 1 && (first == '"' || first == '\\')) {
            out += '\\';
            out += first;
        } else if (count == 1 && (static_cast<std::uint8_t>(first) < 0x20 || first == 0x7F)) {
            appendControl(out, first);
        } else {
            out += text.substr(0, count);
        }
        text.remove_prefix(count);
    }
    out += '"';
}

} // namespace flow
