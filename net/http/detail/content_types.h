#pragma once
// Content types of files.

#include <string_view>

namespace flow::net::http::detail {

/// Returns the type for a path such as "a/b.html"; application/octet-stream for an unknown extension.
std::string_view contentTypeOf(std::string_view path);
/// True if bytes of this type become much smaller: text, JSON, XML, scripts, SVG, WebAssembly.
bool isCompressibleType(std::string_view type);

} // namespace flow::net::http::detail
