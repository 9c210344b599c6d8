#include "flow/base/assert.h"
#include "net/http/compress.h"
#include "net/http/detail/gzip.h"

#include <algorithm>
#include <bit>
#include <new>
#include <string>

#include <zlib.h>

namespace flow::net::http {

bool canCompress() {
    return true;
}

namespace detail {

struct GzipStream::State {
    z_stream z{};
};

GzipStream::GzipStream(int level, std::optional<std::uint64_t> size) : state_(std::make_unique<State>()) {
    constexpr int kGzip = 16; // added to the window bits, it selects the gzip format
    int window = std::clamp(static_cast<int>(std::bit_width(size.value_or(1 << 15))), 9, 15);
    int memory = std::clamp(window - 7, 1, 8);
    if (::deflateInit2(&state_->z, level, Z_DEFLATED, window + kGzip, memory, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc();
}

GzipStream::~GzipStream() {
    ::deflateEnd(&state_->z);
}

Bytes GzipStream::run(StringRef piece, int how) {
    z_stream& z = state_->z;
    z.next_in = const_cast<Bytef*>(piece.begin());
    z.avail_in = static_cast<uInt>(piece.size());
    std::string out;
    do {
        std::size_t before = out.size();
        out.resize(before + std::max<std::size_t>(static_cast<std::size_t>(piece.size()) / 2, 256));
        z.next_out = reinterpret_cast<Bytef*>(out.data() + before);
        z.avail_out = static_cast<uInt>(out.size() - before);
        int result = ::deflate(&z, how);
        FLOW_ASSERT(result != Z_STREAM_ERROR, "the state of zlib is whole");
        out.resize(out.size() - z.avail_out);
    } while (z.avail_out == 0);
    return StringRef(out);
}

Bytes GzipStream::add(StringRef piece, bool flush) {
    return run(piece, flush ? Z_SYNC_FLUSH : Z_NO_FLUSH);
}

Bytes GzipStream::end() {
    return run(StringRef(), Z_FINISH);
}

} // namespace detail
} // namespace flow::net::http
