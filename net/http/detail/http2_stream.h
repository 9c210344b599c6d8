#pragma once
// Http2Stream: one request and its response on an HTTP/2 connection, at a server or a client.
//
// Arrived bytes wait in `received`; the window opens again when a reader takes them. A stream that sends a body holds
// one piece of it at a time.

#include "flow/sync/trigger.h"
#include "net/http/detail/trace_fields.h"
#include "net/http/message.h"

#include <cstdint>
#include <string>

namespace flow::net::http::detail {

class Http2Session;

struct Http2Stream : ReferenceCounted<Http2Stream> {
    Http2Session* session = nullptr; // null when the stream has ended
    std::int32_t id = 0;
    std::size_t place = 0; // index in Http2Session::streams_
    Trigger changed;       // triggered by the changes that a reader or writer may wait for

    // Received
    std::string method, target; // at a server
    int status = 0;
    Headers headers, trailers;
    TraceFields trace;            // of `headers`
    std::string received;         // bytes of the body that were not read yet
    std::uint64_t bodyBytes = 0;  // of the body so far
    bool hasHead = false;         // the head is complete
    bool isTooLarge = false;      // the head or the trailers were dropped, since they are above a limit
    bool hasEnded = false;        // the other side has sent everything
    bool expectsContinue = false; // the client waits for "100 Continue" before it sends the body
    bool isUnread = false;        // the bytes of the body are dropped
    Error error;                  // the reason why no more bytes will come

    // Sent
    Bytes piece;
    Headers sentTrailers;
    double sentAt = 0;           // the time when bytes of the piece were last sent, or the piece was set
    std::uint64_t sentBytes = 0; // of the body so far
    bool isLast = false;         // `piece` is the last one
    bool hasSent = false;        // this side has sent everything
    Future<Void> work;           // runs the handler and sends its answer; at a client, sends the request's body
};

class Http2Source : public BodySource {
public:
    /// A read fails with timed_out after `time` seconds without bytes.
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
