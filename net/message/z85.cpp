#include "net/message/z85.h"

#include "flow/base/assert.h"

#include <array>
#include <cstdint>

namespace flow::net {

namespace {
constexpr std::string_view kAlphabet =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
static_assert(kAlphabet.size() == 85);
} // namespace

std::string z85Encode(std::string_view bytes) {
    FLOW_ASSERT(bytes.size() % 4 == 0, "Z85 encodes four bytes at a time");
    std::string text;
    text.reserve(bytes.size() / 4 * 5);
    for (std::size_t at = 0; at < bytes.size(); at += 4) {
        std::uint32_t value = 0;
        for (char byte : bytes.substr(at, 4))
            value = value << 8 | static_cast<unsigned char>(byte);
        std::array<char, 5> digits;
        for (std::size_t i = 5; i-- > 0; value /= 85)
            digits[i] = kAlphabet[value % 85];
        text.append(digits.data(), digits.size());
    }
    return text;
}

std::optional<std::string> z85Decode(std::string_view text) {
    if (text.size() % 5 != 0)
        return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 5 * 4);
    for (std::size_t at = 0; at < text.size(); at += 5) {
        std::uint64_t value = 0;
        for (char c : text.substr(at, 5)) {
            std::size_t digit = kAlphabet.find(c);
            if (digit == std::string_view::npos)
                return std::nullopt;
            value = value * 85 + digit;
        }
        if (value > 0xFFFFFFFF)
            return std::nullopt;
        for (int shift = 24; shift >= 0; shift -= 8)
            bytes.push_back(static_cast<char>(value >> shift));
    }
    return bytes;
}

std::optional<std::string> z85Key(std::string_view text) {
    if (text.size() == 32)
        return std::string(text);
    return text.size() == 40 ? z85Decode(text) : std::nullopt;
}

} // namespace flow::net
