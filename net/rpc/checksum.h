#pragma once
// CRC-32C, as iSCSI and ext4 use it: finds bytes that have changed on their way.
//
//     std::uint32_t sum = crc32c(bytes);
//
// With the processor's instruction where it has one.

#include "flow/memory/string_ref.h"

#include <cstdint>

namespace flow::net {

std::uint32_t crc32c(StringRef bytes);

namespace rpc {
/// Without that instruction.
std::uint32_t crc32cByTable(StringRef bytes);
} // namespace rpc

} // namespace flow::net
