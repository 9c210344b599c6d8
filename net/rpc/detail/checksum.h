#pragma once
// CRC-32C, a checksum that detects corrupted bytes. iSCSI and ext4 use it as well.
//
//     std::uint32_t sum = crc32c(bytes);
//
// It uses the processor's instruction for CRC-32C, if there is one.

#include "flow/memory/string_ref.h"

#include <cstdint>

namespace flow::net {

/// Returns the checksum of `bytes`. `before` is the checksum of the bytes before them.
std::uint32_t crc32c(StringRef bytes, std::uint32_t before = 0);

namespace rpc {
/// Returns the same as crc32c(), without a special instruction.
std::uint32_t crc32cByTable(StringRef bytes, std::uint32_t before = 0);
} // namespace rpc

} // namespace flow::net
