#pragma once
// CRC-32C under the old header name: crc32c() of net/rpc/detail/checksum.h.
//
//     std::uint32_t sum = crc32c_append(0, first, 4);
//     sum = crc32c_append(sum, second, 4);                  // the checksum of all eight bytes

#include "../../rpc/detail/checksum.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

inline std::uint32_t crc32c_append(std::uint32_t before, std::uint8_t const* bytes, std::size_t count) {
    constexpr std::size_t kMost = std::size_t{1} << 30; // the most bytes for one StringRef
    for (; count > kMost; bytes += kMost, count -= kMost)
        before = flow::net::crc32c(flow::StringRef(bytes, static_cast<int>(kMost)), before);
    return flow::net::crc32c(flow::StringRef(bytes, static_cast<int>(count)), before);
}
