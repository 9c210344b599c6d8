#pragma once
// GzipStream: compresses bytes to gzip, piece by piece, with zlib.
//
//     GzipStream gzip(4, body.size());
//     Bytes some = gzip.add(piece, true);     // flushed: the other side can decompress the whole piece
//     Bytes rest = gzip.end();

#include "net/connection.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace flow::net::http::detail {

class GzipStream {
public:
    /// `size` is the number of bytes to add, if it is known: a small stream uses less memory. Throws std::bad_alloc.
    GzipStream(int level, std::optional<std::uint64_t> size);
    ~GzipStream();

    /// Returns the compressed bytes that zlib gives now, which may be none; with `flush`, all of them.
    Bytes add(StringRef piece, bool flush);
    Bytes end();

private:
    struct State;
    Bytes run(StringRef piece, int how);

    std::unique_ptr<State> state_;
};

} // namespace flow::net::http::detail
