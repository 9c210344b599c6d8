#pragma once
// The keys of the WebSocket handshake (RFC 6455, 1.3).

#include <string>
#include <string_view>

namespace flow::net::http::websocket {

/// Returns the Sec-WebSocket-Accept for a Sec-WebSocket-Key: base64(sha1(key + a text of the RFC)).
std::string acceptFor(std::string_view key);
/// True if `key` is 16 bytes in base64.
bool isKey(std::string_view key);
/// Returns `bytes` in base64, with the "=" at the end.
std::string base64(std::string_view bytes);

} // namespace flow::net::http::websocket
