#pragma once
// The field Range of a request: "bytes=0-99", "bytes=100-", "bytes=-100", or several of these with commas between them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace flow::net::http::detail {

struct ByteRange {
    std::uint64_t first, size;
    friend bool operator==(ByteRange const&, ByteRange const&) = default;
};

/// Returns the ranges of a field, without ranges behind the end of a file of `size` bytes. Returns nothing if the whole
/// file must be sent: the field is wrong, or has more than `most` ranges or together more than `size` bytes.
std::optional<std::vector<ByteRange>> parseRanges(std::string_view field, std::uint64_t size, std::size_t most);

} // namespace flow::net::http::detail
