#pragma once
// Z85: text for binary keys, five printable characters for four bytes.
//
//     std::string text = z85Encode(key);                    // 40 characters for a key of 32 bytes
//     std::optional<std::string> key = z85Decode(text);

#include <optional>
#include <string>
#include <string_view>

namespace flow::net {

/// Returns `bytes` as text. The number of bytes must be a multiple of 4.
std::string z85Encode(std::string_view bytes);
/// Returns nothing if the length is no multiple of 5, or if a character or a group of five characters is invalid.
std::optional<std::string> z85Decode(std::string_view text);
/// Returns the key in `text`: 32 bytes, or 40 characters of Z85. Returns nothing if `text` is neither.
std::optional<std::string> z85Key(std::string_view text);

} // namespace flow::net
