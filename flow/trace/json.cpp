#include "flow/trace/detail/json.h"

#include "flow/base/utf8.h"

#include <array>
#include <cstdint>

namespace flow {
namespace {

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

/// For each character: true if a JSON string contains it unchanged.
constexpr auto kIsPlain = [] {
    std::array<bool, 256> plain{};
    for (int c = 0x20; c < 0x7F; ++c)
        plain[static_cast<std::size_t>(c)] = c != '"' && c != '\\';
    return plain;
}();

bool isPlain(char c) {
    return kIsPlain[static_cast<std::uint8_t>(c)];
}

} // namespace

void appendJsonString(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        std::size_t plain = 0;
        while (plain < text.size() && isPlain(text[plain]))
            ++plain;
        out.append(text.data(), plain);
        text.remove_prefix(plain);
        if (text.empty())
            break;
        std::size_t count = utf8CharacterBytes(text);
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
