#pragma once
// The field Accept-Encoding of a request.

#include <string_view>

namespace flow::net::http::detail {

/// True if the client takes gzip, and does not prefer bytes without a coding: "gzip, br", "*;q=0.5", not "gzip;q=0".
bool acceptsGzip(std::string_view acceptEncoding);

} // namespace flow::net::http::detail
