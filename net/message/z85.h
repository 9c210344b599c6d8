#pragma once
// Z85: keys as text, five printable characters for four bytes.
//
//     std::string text = z85Encode(key);                    // 40 characters for a key of 32 bytes
//     std::optional<std::string> key = z85Decode(text);

#include <optional>
#include <string>
#include <string_view>

namespace flow::net {

/// The number of bytes must be a multiple of 4.
std::string z85Encode(std::string_view bytes);
/// Nothing if the length is no multiple of 5, a character is not in the alphabet, or five of them exceed 32 bits.
std::optional<std::string> z85Decode(std::string_view text);
/// A key from 32 bytes or 40 characters; nothing if the text is neither.
std::optional<std::string> z85Key(std::string_view text);

} // namespace flow::net
