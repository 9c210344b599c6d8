#pragma once
// CRC-32C, a checksum that iSCSI and ext4 use as well.
//
//     std::uint32_t sum = crc32c(bytes);

#include "flow/memory/string_ref.h"

#include <cstdint>

namespace flow::net {

/// Returns the CRC-32C of some earlier bytes followed by `bytes`. `before` is the CRC-32C of the earlier bytes.
std::uint32_t crc32c(StringRef bytes, std::uint32_t before = 0);

namespace rpc {
/// Like crc32c(), but never uses the processor's CRC instruction.
std::uint32_t crc32cByTable(StringRef bytes, std::uint32_t before = 0);
} // namespace rpc

} // namespace flow::net
