#pragma once
// CRC-32C, a checksum that detects corrupted bytes. iSCSI and ext4 use it as well.
//
//     std::uint32_t sum = crc32c(bytes);
//
// crc32c() uses the processor's instruction for CRC-32C, if there is one.

#include "flow/memory/string_ref.h"

#include <cstdint>

namespace flow::net {

/// Returns the checksum of earlier bytes and `bytes`. `before` is the checksum of the earlier bytes; 0 if none.
std::uint32_t crc32c(StringRef bytes, std::uint32_t before = 0);

namespace rpc {
/// Returns the result of crc32c(), but never uses the processor's instruction.
std::uint32_t crc32cByTable(StringRef bytes, std::uint32_t before = 0);
} // namespace rpc

} // namespace flow::net
