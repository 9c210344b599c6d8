
#include "net/http/compress.h"
#include "net/http/detail/gzip.h"

namespace flow::net::http {

bool canCompress() {
    return false;
}

namespace detail {

struct GzipStream::State {};

GzipStream::GzipStream(int, std::optional<std::uint64_t>) {
    throw unsupported_operation();
}
GzipStream::~GzipStream() = default;
Bytes GzipStream::add(StringRef, bool) {
    return {};
}
Bytes GzipStream::end() {
    return {};
}

} // namespace detail
} // namespace flow::net::http
