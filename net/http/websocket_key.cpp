#include "net/http/detail/websocket_key.h"

#include <array>
#include <bit>
#include <cstdint>

namespace flow::net::http::websocket {
namespace {

constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// SHA-1 (RFC 3174). It protects no secret: it only shows that the server speaks WebSocket.
std::string sha1(std::string text) {
    std::uint64_t bits = text.size() * 8;
    text += '\x80';
    text.append((119 - (text.size() - 1) % 64) % 64, '\0');
    for (int shift = 56; shift >= 0; shift -= 8)
        text += static_cast<char>(bits >> shift);
    std::array<std::uint32_t, 5> hash = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    for (std::size_t block = 0; block < text.size(); block += 64) {
        std::uint32_t words[80] = {};
        for (std::size_t i = 0; i < 64; ++i)
            words[i / 4] = words[i / 4] << 8 | static_cast<std::uint8_t>(text[block + i]);
        for (std::size_t i = 16; i < 80; ++i)
            words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
        auto [a, b, c, d, e] = hash;
        for (std::size_t i = 0; i < 80; ++i) {
            std::uint32_t mixed = i < 20   ? ((b & c) | (~b & d)) + 0x5A827999
                                  : i < 40 ? (b ^ c ^ d) + 0x6ED9EBA1
                                  : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8F1BBCDC
                                           : (b ^ c ^ d) + 0xCA62C1D6;
            std::uint32_t next = std::rotl(a, 5) + mixed + e + words[i];
            e = d;
            d = c;
            c = std::rotl(b, 30);
            b = a;
            a = next;
        }
        std::uint32_t const mixed[] = {a, b, c, d, e};
        for (std::size_t i = 0; i < hash.size(); ++i)
            hash[i] += mixed[i];
    }
    std::string digest;
    for (std::uint32_t word : hash)
        for (int shift = 24; shift >= 0; shift -= 8)
            digest += static_cast<char>(word >> shift);
    return digest;
}

} // namespace

std::string acceptFor(std::string_view key) {
    return base64(sha1(std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"));
}

bool isKey(std::string_view key) {
    return key.size() == 24 && key.ends_with("==") && key.find_first_not_of(kBase64Digits) == 22;
}

std::string base64(std::string_view bytes) {
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        std::uint32_t three = 0;
        for (std::size_t i = 0; i < 3; ++i)
            three = three << 8 | (at + i < bytes.size() ? static_cast<std::uint8_t>(bytes[at + i]) : 0);
        for (std::size_t i = 0; i < 4; ++i)
            text += i <= bytes.size() - at ? kBase64Digits[three >> (18 - 6 * i) & 63] : '=';
    }
    return text;
}

} // namespace flow::net::http::websocket
