#pragma once
// Http2Stream: one request and its response on an HTTP/2 connection, as servers and clients see it.
//
// The bytes that have arrived wait in `received` until the body's reader takes them, and only then is their window
// given back. Of a body that is sent, one piece is held at a time.

#include "flow/sync/trigger.h"
#include "net/http/message.h"

#include <cstdint>
#include <string>

namespace flow::net::http::detail {

class Http2Session;

struct Http2Stream : ReferenceCounted<Http2Stream> {
    Http2Session* session = nullptr; // null when the stream has ended
    std::int32_t id = 0;
    std::size_t place = 0; // in Http2Session::streams_
    Trigger changed;       // after each change that a reader or writer of this stream may wait for

    // Received
    std::string method, target; // at a server
    int status = 0;             // of the answer
    Headers headers, trailers;
    std::string received;         // the bytes of the body that are not read yet
    std::uint64_t bodyBytes = 0;  // of the body so far
    bool hasHead = false;         // the head is complete: method, target, status, headers
    bool isTooLarge = false;      // the head, or the trailers, have more bytes than the limit: they are dropped
    bool hasEnded = false;        // the other side has sent all
    bool expectsContinue = false; // the client waits for "100 Continue" before it sends the body
    bool isUnread = false;        // nothing will read the body: its bytes are dropped
    Error error;                  // why no more will come

    // Sent
    Bytes piece;
    Headers sentTrailers;
    double sentAt = 0;           // when the last bytes of a piece went, or the piece came
    std::uint64_t sentBytes = 0; // of the body so far
    bool isLast = false;         // no piece follows
    bool hasSent = false;        // this side has sent all
    Future<Void> work;           // a server: the handler and its answer; a client: the body of the request
};

/// Reads the body of a message from its stream.
class Http2Source : public BodySource {
public:
    /// A read fails with timed_out if nothing comes for so many seconds.
    Http2Source(Reference<Http2Stream> stream, double time) : stream_(std::move(stream)), time_(time) {}
    ~Http2Source() override;

    Future<Bytes> next() override;

private:
    static Future<Bytes> wait(Reference<Http2Source> self);
    Bytes take();

    Reference<Http2Stream> stream_;
    double time_;
};

} // namespace flow::net::http::detail
