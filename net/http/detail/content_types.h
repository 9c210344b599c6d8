#pragma once
// The content types of files by the ends of their names.

#include <string_view>

namespace flow::net::http::detail {

/// Returns the type for a path such as "a/b.html"; application/octet-stream if there is none.
std::string_view contentTypeOf(std::string_view path);
/// True if bytes of this type become much smaller: text, JSON, XML, scripts, SVG, WebAssembly.
bool isCompressibleType(std::string_view type);

} // namespace flow::net::http::detail
