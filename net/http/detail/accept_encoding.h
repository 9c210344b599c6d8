#pragma once
// The field Accept-Encoding of a request.

#include <string_view>

namespace flow::net::http::detail {

/// True if the client accepts gzip and does not prefer identity: for "gzip, br" and "*;q=0.5", but not for "gzip;q=0".
bool acceptsGzip(std::string_view acceptEncoding);

} // namespace flow::net::http::detail
