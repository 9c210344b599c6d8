#include "net/rpc/checksum.h"

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
[[gnu::target("sse4.2")]] std::uint32_t crc32cByProcessor(StringRef bytes) {
    std::uint64_t value = 0xFFFFFFFF;
    std::uint8_t const* at = bytes.begin();
    std::uint8_t const* end = bytes.end();
    for (; end - at >= 8; at += 8) {
        std::uint64_t word;
        std::memcpy(&word, at, 8);
        value = __builtin_ia32_crc32di(value, word);
    }
    auto rest = static_cast<std::uint32_t>(value);
    for (; at != end; ++at)
        rest = __builtin_ia32_crc32qi(rest, *at);
    return ~rest;
}
#endif

} // namespace

std::uint32_t rpc::crc32cByTable(StringRef bytes) {
    std::uint32_t value = 0xFFFFFFFF;
    for (std::uint8_t byte : bytes)
        value = value >> 8 ^ kTable[(value ^ byte) & 0xFF];
    return ~value;
}

std::uint32_t crc32c(StringRef bytes) {
#ifdef __x86_64__
    static bool const hasInstruction = __builtin_cpu_supports("sse4.2");
    if (hasInstruction)
        return crc32cByProcessor(bytes);
#endif
    return rpc::crc32cByTable(bytes);
}

} // namespace flow::net
