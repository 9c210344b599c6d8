#pragma once
// Body: the bytes after the head of a message: none, bytes in memory, a stream of pieces, or a part of a file.
//
//     Response{.body = "hello"}                                       // bytes; the length is sent with them
//     Response{.body = Body::stream(next)}                            // until next() returns an empty piece
//
//     std::string all = co_await request.body.text(65536);            // a small one, whole
//     for (;;) {
//         Bytes piece = co_await request.body.read();                 // a large one, piece by piece
//         if (piece.empty())
//             break;                                                  // the end
//         use(piece);
//     }
//
// Only read() and text() read a received body from its connection, so a slow reader makes the sender wait. One read()
// may run at a time. If its future is dropped before it is ready, no bytes are lost. read() fails with
//     connection_cut_off, connection_reset    the connection ended before the body did
//     timed_out                               the other side sends too slowly
//     value_too_large                         the body is longer than the limit of its receiver
//     serialization_failed                    the bytes break the rules of chunked bodies
//     operation_obsolete                      the exchange is over: the handler has answered already
// A Body belongs to one thread.

#include "flow/core/future.h"
#include "net/http/headers.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace flow::net::http {

class OpenFile;

/// Returns the next piece of a body; an empty piece is the end, and each later piece is empty. One call at a time.
using NextPiece = std::function<Future<Bytes>()>;

class BodySource : public ReferenceCounted<BodySource> {
public:
    virtual ~BodySource() = default;
    /// See NextPiece. The future may outlive all References.
    virtual Future<Bytes> next() = 0;

    /// Sends `before`, and then bytes straight from a file, as many as the connection takes now. Returns the number of
    /// sent bytes. Returns nothing, and sends nothing, if the caller must use next().
    virtual std::optional<std::size_t> trySendTo(Connection&, StringRef /*before*/) { return {}; }

    Headers trailers; // set before next() returns the end
};

class Body {
public:
    Body() = default;
    Body(Bytes bytes) : bytes_(std::move(bytes)), size_(bytes_.size()) {}
    Body(std::string const& bytes) : Body(Bytes(StringRef(bytes))) {}
    Body(char const* bytes) : Body(Bytes(StringRef(bytes))) {}
    /// Makes a body of the pieces of `next`. `size` is the number of bytes of all pieces, if it is known.
    static Body stream(NextPiece next, std::optional<std::uint64_t> size = {});
    static Body from(Reference<BodySource> source, std::optional<std::uint64_t> size);
    static Body file(std::shared_ptr<OpenFile> file, std::uint64_t offset, std::uint64_t size);

    Body(Body&&) noexcept = default;
    Body& operator=(Body&&) noexcept = default;
    Body(Body const&) = delete;
    Body& operator=(Body const&) = delete;

    /// Returns the size of the body; nothing if it is unknown. Reading bytes in memory sets it to 0; reading a source
    /// does not change it.
    std::optional<std::uint64_t> size() const { return size_; }
    bool isEmpty() const { return size_ == 0; }
    Future<Bytes> read();
    /// Reads the rest of the body. Fails with value_too_large if it is more than `limit` bytes.
    Future<std::string> text(std::size_t limit);
    /// Returns the trailers of a received body, after its end.
    Headers const& trailers() const;

    /// Removes and returns the bytes in memory; none if the body has a source.
    Bytes takeBytes();
    /// Returns the source; null if the body is in memory.
    Reference<BodySource> const& source() const { return source_; }

private:
    Bytes bytes_;
    Reference<BodySource> source_;
    std::optional<std::uint64_t> size_ = 0;
};

} // namespace flow::net::http
