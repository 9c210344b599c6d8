#include "net/rpc/detail/checksum.h"

#include <array>
#include <cstring>

namespace flow::net {

namespace {

constexpr std::array<std::uint32_t, 256> makeTable() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit)
            value = value >> 1 ^ (value & 1 ? 0x82F63B78u : 0u);
        table[i] = value;
    }
    return table;
}
constexpr std::array<std::uint32_t, 256> kTable = makeTable();

#ifdef __x86_64__
/// The bytes of a lane. Three lanes are computed in parallel, because a CRC instruction takes 3 cycles.
constexpr std::ptrdiff_t kLane = 1024;

/// The checksum after kLane zero bytes is the xor of four entries: one for each byte of the old value, lowest first.
using Advance = std::array<std::array<std::uint32_t, 256>, 4>;
constexpr Advance makeAdvance() {
    std::array<std::uint32_t, 32> ofBit{};
    for (std::size_t bit = 0; bit < 32; ++bit) {
        std::uint32_t value = std::uint32_t{1} << bit;
        for (std::ptrdiff_t i = 0; i < kLane; ++i)
            value = value >> 8 ^ kTable[value & 0xFF];
        ofBit[bit] = value;
    }
    Advance advance{};
    for (std::size_t place = 0; place < 4; ++place)
        for (std::size_t byte = 0; byte < 256; ++byte)
            for (std::size_t bit = 0; bit < 8; ++bit)
                advance[place][byte] ^= byte >> bit & 1 ? ofBit[8 * place + bit] : 0;
    return advance;
}
constexpr Advance kAdvance = makeAdvance();

std::uint64_t advanced(std::uint64_t value) {
    return kAdvance[0][value & 0xFF] ^ kAdvance[1][value >> 8 & 0xFF] ^ kAdvance[2][value >> 16 & 0xFF] ^
           kAdvance[3][value >> 24];
}

std::uint64_t wordAt(std::uint8_t const* at) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    return word;
}

[[gnu::target("sse4.2")]] std::uint32_t crc32cByProcessor(StringRef bytes, std::uint32_t before) {
    std::uint64_t value = ~before;
    std::uint8_t const* at = bytes.begin();
    std::uint8_t const* end = bytes.end();
    for (; end - at >= 3 * kLane; at += 3 * kLane) {
        std::uint64_t second = 0, third = 0;
        for (std::ptrdiff_t i = 0; i < kLane; i += 8) {
            value = __builtin_ia32_crc32di(value, wordAt(at + i));
            second = __builtin_ia32_crc32di(second, wordAt(at + kLane + i));
            third = __builtin_ia32_crc32di(third, wordAt(at + 2 * kLane + i));
        }
        value = advanced(advanced(value) ^ second) ^ third;
    }
    for (; end - at >= 8; at += 8)
        value = __builtin_ia32_crc32di(value, wordAt(at));
    auto rest = static_cast<std::uint32_t>(value);
    for (; at != end; ++at)
        rest = __builtin_ia32_crc32qi(rest, *at);
    return ~rest;
}
#endif

} // namespace

std::uint32_t rpc::crc32cByTable(StringRef bytes, std::uint32_t before) {
    std::uint32_t value = ~before;
    for (std::uint8_t byte : bytes)
        value = value >> 8 ^ kTable[(value ^ byte) & 0xFF];
    return ~value;
}

std::uint32_t crc32c(StringRef bytes, std::uint32_t before) {
#ifdef __x86_64__
    static bool const hasInstruction = __builtin_cpu_supports("sse4.2");
    if (hasInstruction)
        return crc32cByProcessor(bytes, before);
#endif
    return rpc::crc32cByTable(bytes, before);
}

} // namespace flow::net
