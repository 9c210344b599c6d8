#include "flow/memory/string_ref.h"

#include "flow/base/format.h"

#include <algorithm>

namespace flow {
namespace {

void appendHex(std::string& out, std::uint8_t byte) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
}

// True for the readable characters of ASCII, in any locale.
bool isReadable(std::uint8_t byte) {
    return byte >= ' ' && byte < 127;
}
bool isLetterOrDigit(std::uint8_t byte) {
    std::uint8_t lower = byte | 0x20;
    return (byte >= '0' && byte <= '9') || (lower >= 'a' && lower <= 'z');
}

} // namespace

std::string StringRef::printable() const {
    std::string out;
    out.reserve(static_cast<std::size_t>(length_));
    for (std::uint8_t byte : *this) {
        if (byte == '\\') {
            out += "\\\\";
        } else if (isReadable(byte)) {
            out += static_cast<char>(byte);
        } else {
            out += "\\x";
            appendHex(out, byte);
        }
    }
    return out;
}

std::string StringRef::toHexString(int limit) const {
    constexpr int kLeastForTwoParts = 9;
    if (limit >= 0 && limit < length_) {
        int last = limit < kLeastForTwoParts ? 0 : limit / 3;
        std::string out = substr(0, limit - last).toHexString() + "...";
        if (last == 0)
            return out + format("[%d]", length_);
        return out + substr(length_ - last).toHexString() + format(" [%d bytes]", length_);
    }
    std::string out;
    for (std::uint8_t byte : *this) {
        if (!out.empty())
            out += ' ';
        appendHex(out, byte);
        if (isLetterOrDigit(byte)) {
            out += " (";
            out += static_cast<char>(byte);
            out += ')';
        }
    }
    return out;
}

std::string StringRef::toFullHexStringPlain() const {
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
