#pragma once
// Z85: a text form of keys, with five printable characters for four bytes.
//
//     std::string text = z85Encode(key);                    // 40 characters for a key of 32 bytes
//     std::optional<std::string> key = z85Decode(text);

#include <optional>
#include <string>
#include <string_view>

namespace flow::net {

/// Returns the text of `bytes`. The number of bytes must be a multiple of 4.
std::string z85Encode(std::string_view bytes);
/// Returns the bytes of `text`. Returns nothing if its length is no multiple of 5, a character is not in the alphabet,
/// or a group of five characters exceeds 32 bits.
std::optional<std::string> z85Decode(std::string_view text);
/// Returns the key if `text` is its 32 bytes or its 40 characters of Z85; otherwise nothing.
std::optional<std::string> z85Key(std::string_view text);

} // namespace flow::net
