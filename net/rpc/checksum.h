#pragma once
// CRC-32C, as iSCSI and ext4 use it: detects corrupted bytes.
//
//     std::uint32_t sum = crc32c(bytes);
//
// Uses the processor's instruction if it has one.

#include "flow/memory/string_ref.h"

#include <cstdint>

namespace flow::net {

/// `before`: the checksum of the bytes in front of these.
std::uint32_t crc32c(StringRef bytes, std::uint32_t before = 0);

namespace rpc {
/// Uses no special instruction.
std::uint32_t crc32cByTable(StringRef bytes, std::uint32_t before = 0);
} // namespace rpc

} // namespace flow::net
