#include "flow/memory/string_ref.h"

#include <algorithm>

namespace flow {
namespace {

void appendHex(std::string& out, std::uint8_t byte) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
}

} // namespace

std::string StringRef::printable() const {
    std::string out;
    out.reserve(static_cast<std::size_t>(length_));
    for (std::uint8_t byte : *this) {
        if (byte >= ' ' && byte < 127 && byte != '\\') {
            out += static_cast<char>(byte);
        } else {
            out += "\\x";
            appendHex(out, byte);
        }
    }
    return out;
}

std::string StringRef::toHexString() const {
    std::string out;
    out.reserve(2 * static_cast<std::size_t>(length_));
    for (std::uint8_t byte : *this)
        appendHex(out, byte);
    return out;
}

int StringRef::commonPrefixLength(StringRef other) const {
    auto differs = std::mismatch(begin(), end(), other.begin(), other.end());
    return static_cast<int>(differs.first - begin());
}

} // namespace flow
