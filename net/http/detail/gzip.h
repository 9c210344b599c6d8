#pragma once
// GzipStream: bytes to gzip, piece by piece, by zlib.
//
//     GzipStream gzip(4, body.size());
//     Bytes some = gzip.add(piece, true);     // the other side can read all of the piece; may be empty without bytes
//     Bytes rest = gzip.end();

#include "net/connection.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace flow::net::http::detail {

class GzipStream {
public:
    /// `size`, if known, is the number of bytes that will be added: a small one takes less memory. Throws
    /// std::bad_alloc.
    GzipStream(int level, std::optional<std::uint64_t> size);
    ~GzipStream();

    /// Returns what is there of the compressed bytes; with `flush`, all.
    Bytes add(StringRef piece, bool flush);
    Bytes end();

private:
    struct State;
    Bytes run(StringRef piece, int how);

    std::unique_ptr<State> state_;
};

} // namespace flow::net::http::detail
