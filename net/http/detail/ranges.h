#pragma once
// The field Range of a request: "bytes=0-99", "bytes=100-", "bytes=-100", or several of these with commas between them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace flow::net::http::detail {

/// A part of a file.
struct ByteRange {
    std::uint64_t first, size;
    friend bool operator==(ByteRange const&, ByteRange const&) = default;
};

/// Returns the ranges of a field that a file of `size` bytes has. None: the file has no byte of any range. Returns
/// nothing if the whole file is the answer: the field is wrong, has more than `most` ranges, or the ranges have
/// together more bytes than the file.
std::optional<std::vector<ByteRange>> parseRanges(std::string_view field, std::uint64_t size, std::size_t most);

} // namespace flow::net::http::detail
