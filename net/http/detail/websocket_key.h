#pragma once
// The answer to a Sec-WebSocket-Key, which shows that a server speaks WebSocket (RFC 6455, 4.2.2).

#include <string>
#include <string_view>

namespace flow::net::http::websocket {

/// Returns base64(sha1(key + the RFC's text)).
std::string acceptFor(std::string_view key);
/// Returns `bytes` in base64, with the "=" at the end.
std::string base64(std::string_view bytes);

} // namespace flow::net::http::websocket
