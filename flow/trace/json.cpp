#include "flow/trace/detail/json.h"

#include "flow/base/utf8.h"

#include <algorithm>
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

bool isPlain(char c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

} // namespace

void appendJsonString(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        auto special = std::find_if_not(text.begin(), text.end(), isPlain);
        out.append(text.begin(), special);
        text.remove_prefix(static_cast<std::size_t>(special - text.begin()));
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
