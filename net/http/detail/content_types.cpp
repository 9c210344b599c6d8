#include "net/http/detail/content_types.h"

#include "net/http/detail/syntax.h"

#include <algorithm>
#include <array>
#include <string>

namespace flow::net::http::detail {
namespace {

struct Type {
    std::string_view end, type;
};
constexpr auto kTypes = std::to_array<Type>({
    {"aac", "audio/aac"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"css", "text/css; charset=utf-8"},
    {"csv", "text/csv; charset=utf-8"},
    {"flac", "audio/flac"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"htm", "text/html; charset=utf-8"},
    {"html", "text/html; charset=utf-8"},
    {"ico", "image/x-icon"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript; charset=utf-8"},
    {"json", "application/json"},
    {"map", "application/json"},
    {"md", "text/markdown; charset=utf-8"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"ogg", "audio/ogg"},
    {"otf", "font/otf"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"ttf", "font/ttf"},
    {"txt", "text/plain; charset=utf-8"},
    {"wasm", "application/wasm"},
    {"wav", "audio/wav"},
    {"webm", "video/webm"},
    {"webmanifest", "application/manifest+json"},
    {"webp", "image/webp"},
    {"woff", "font/woff"},
    {"woff2", "font/woff2"},
    {"xhtml", "application/xhtml+xml"},
    {"xml", "application/xml"},
    {"zip", "application/zip"},
});

std::string lowered(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), lower);
    return out;
}

} // namespace

std::string_view contentTypeOf(std::string_view path) {
    constexpr std::string_view kUnknown = "application/octet-stream";
    std::size_t dot = path.find_last_of("./");
    if (dot == std::string_view::npos || path[dot] == '/')
        return kUnknown;
    std::string end = lowered(path.substr(dot + 1));
    auto place = std::lower_bound(kTypes.begin(), kTypes.end(), end, [](Type const& t, auto& e) { return t.end < e; });
    return place != kTypes.end() && place->end == end ? place->type : kUnknown;
}

bool isCompressibleType(std::string_view type) {
    std::string name = lowered(trimmed(type.substr(0, type.find(';'))));
    constexpr auto kNames = std::to_array<std::string_view>(
        {"application/json", "application/javascript", "application/xml", "application/wasm", "application/x-ndjson",
         "font/otf", "font/ttf", "image/bmp", "image/x-icon"});
    return name.starts_with("text/") || name.ends_with("+xml") || name.ends_with("+json") ||
           std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

} // namespace flow::net::http::detail
