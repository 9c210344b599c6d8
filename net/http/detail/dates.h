#pragma once
// Dates in the fields of HTTP, such as "Sun, 06 Nov 1994 08:49:37 GMT".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flow::net::http::detail {

/// Returns the text for a time in seconds since 1970.
std::string httpDate(std::int64_t seconds);
/// Reads the three forms of RFC 9110, 5.6.7. Returns nothing for any other text.
std::optional<std::int64_t> parseHttpDate(std::string_view text);

} // namespace flow::net::http::detail
