#pragma once
// Body: what follows the head of a message: nothing, bytes in memory, a stream of pieces, or a part of a file.
//
//     Response{.body = "hello"}                                       // bytes; the length is sent with them
//     Response{.body = Body::stream(next)}                            // until `next` gives an empty piece
//
//     std::string all = co_await request.body.text(65536);            // a small one, whole
//     for (;;) {
//         Bytes piece = co_await request.body.read();                 // a large one, piece by piece
//         if (piece.empty())
//             break;                                                  // the end
//         use(piece);
//     }
//
// A received body is read from its connection only when read() asks, so a slow reader makes the sender wait. read() has
// one call at a time; a call that was dropped before it was ready has taken nothing. It fails with
//     connection_cut_off, connection_reset    the connection ended before the body did
//     timed_out                               the other side sends too slowly
//     value_too_large                         the body is longer than the limit of its receiver
//     serialization_failed                    the bytes break the rules of chunked bodies
//     operation_obsolete                      the exchange is over: a handler has kept the body after its answer
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

/// Gives the next piece of a body; an empty piece is the end, and so is what comes behind it. One call at a time.
using NextPiece = std::function<Future<Bytes>()>;

/// The source of a body that is not in memory.
class BodySource : public ReferenceCounted<BodySource> {
public:
    virtual ~BodySource() = default;
    /// See NextPiece. The future may outlive all References.
    virtual Future<Bytes> next() = 0;

    /// Sends `before`, and then bytes straight from a file, as many as the connection takes now, and returns their
    /// number. Returns nothing, and has sent nothing, if next() must read what comes next.
    virtual std::optional<std::size_t> trySendTo(Connection&, StringRef /*before*/) { return {}; }

    Headers trailers; // set before the end is given
};

class Body {
public:
    Body() = default;
    Body(Bytes bytes) : bytes_(std::move(bytes)), size_(bytes_.size()) {}
    Body(std::string const& bytes) : Body(Bytes(StringRef(bytes))) {}
    Body(char const* bytes) : Body(Bytes(StringRef(bytes))) {}
    /// `size` is the number of bytes of all pieces together, if it is known before.
    static Body stream(NextPiece next, std::optional<std::uint64_t> size = {});
    static Body from(Reference<BodySource> source, std::optional<std::uint64_t> size);
    /// `size` bytes of the file from `offset` on.
    static Body file(std::shared_ptr<OpenFile> file, std::uint64_t offset, std::uint64_t size);

    Body(Body&&) noexcept = default;
    Body& operator=(Body&&) noexcept = default;
    Body(Body const&) = delete;
    Body& operator=(Body const&) = delete;

    /// Returns the number of bytes that are left; nothing if it is not known before the end.
    std::optional<std::uint64_t> size() const { return size_; }
    bool isEmpty() const { return size_ == 0; }
    /// Reads the next piece; an empty one is the end.
    Future<Bytes> read();
    /// Reads all that is left. Fails with value_too_large if it is more than `limit` bytes.
    Future<std::string> text(std::size_t limit);
    /// Returns the fields behind a received body, after its end.
    Headers const& trailers() const;

    /// Takes the bytes that are in memory; none if the body has a source.
    Bytes takeBytes();
    /// The source of all that is not in memory; null without one.
    Reference<BodySource> const& source() const { return source_; }

private:
    Bytes bytes_;
    Reference<BodySource> source_;
    std::optional<std::uint64_t> size_ = 0;
};

} // namespace flow::net::http
