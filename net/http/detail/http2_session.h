#pragma once
// Http2Session: what servers and clients of HTTP/2 share: the frames (by nghttp2), the streams, and the limits.
//
//     class Server : Http2Session {
//         void headHasCome(Reference<Http2Stream> stream) override;       // a request, at a server
//     };
//     co_await Http2Session::run(session, bytes);                         // until the connection has nothing more to
//     do
//
// nghttp2 calls back inside of feed() and flush(). These callbacks only note what has happened. Handlers begin, and are
// dropped, when the call is over: so no code of a program runs inside of nghttp2.
//
// Memory. A stream holds at most its window of unread bytes: bytes that a reader has taken make room for others. At a
// server, a stream has the small `unreadWindow` until its body is read, and the connection has one of these for each
// stream that may be open: so requests that wait for their turn never stop the body of one that runs. A client has as
// many streams as its program wants: its connection has no limit of its own. A head has at most `headBytes`. Frames
// that wait to be sent are few: the session ends with ENHANCE_YOUR_CALM if the other side causes more than kMostQueued
// answers that it does not read, more streams that end early than `resets` allows, or more frames that carry nothing
// than kMostIdle allows.

#include "flow/sync/rate_limit.h"
#include "net/http/detail/http2_stream.h"

#include <span>
#include <utility>
#include <vector>

struct nghttp2_session;

namespace flow::net::http::detail {

struct Http2Limits {
    std::size_t headBytes = 64 * 1024; // of the fields in a head, and 32 for each of them (RFC 9113, 6.5.2)
    std::size_t headFields = 100;
    std::uint64_t bodyBytes = UINT64_MAX;
    std::uint32_t streams = 100;             // that the other side may have open
    std::uint32_t streamWindow = 256 * 1024; // bytes
    std::uint32_t unreadWindow = 16 * 1024;  // at a server, until the body is read
    RateLimit::Options resets = {.perSecond = 30, .burst = 200};
    double sendTime = 60; // seconds in which some bytes must go
};

class Http2Session : public ReferenceCounted<Http2Session> {
public:
    Http2Session(Reference<Connection> connection, bool isServer, Http2Limits const& limits);
    virtual ~Http2Session();
    Http2Session(Http2Session const&) = delete;
    Http2Session& operator=(Http2Session const&) = delete;

    /// Reads and writes frames until the connection ends, or has nothing more to do. `first` has come already. Fails
    /// with the connection's error, or with timed_out. When it has ended, or is dropped, the streams have ended.
    static Future<Void> run(Reference<Http2Session> self, Bytes first);

    // For the streams:
    /// A reader has taken bytes of the body, and wants more.
    void consume(Http2Stream& stream, std::size_t bytes);
    void reset(Http2Stream& stream, std::uint32_t code);
    /// Resets the stream; all that waits for it gets this error.
    void fail(Http2Stream& stream, Error error, std::uint32_t code);
    void sendContinue(Http2Stream& stream);
    /// Nothing will read the body of this stream.
    void leaveUnread(Http2Stream& stream);

protected:
    using Fields = std::vector<std::pair<std::string_view, std::string_view>>;

    virtual void headHasCome(Reference<Http2Stream> stream) = 0;
    /// Called when a stream has ended, after its `session` has become null.
    virtual void streamHasEnded(Http2Stream& stream) { stream.work = Future<Void>(); }
    virtual void goawayHasCome() {}

    /// Submits a head; the names may have capital letters. A body follows if `hasBody`: call sendBody(). Returns false
    /// if the stream has ended meanwhile.
    bool submitResponse(Http2Stream& stream, Fields const& fields, bool hasBody);
    Reference<Http2Stream> submitRequest(Fields const& fields, bool hasBody);
    /// Sends a body that is in memory.
    static void giveBody(Http2Stream& stream, Bytes body, Headers const& trailers);
    /// Returns false if the other side has not taken a piece of the body for `time` seconds: the stream has failed
    /// then.
    static bool isTaken(Http2Stream& stream, double time);
    /// Sends the body. If it fails, or has more or fewer bytes than it said, or the other side does not take it, the
    /// stream is reset, and has the error; a server reports the error of its body as dropped.
    static Future<Void> sendBody(Reference<Http2Stream> stream, Body body, Headers trailers, double time);

    /// Ends the session with GOAWAY: without taking further streams, or, with `isNotice`, as a notice that this will
    /// follow.
    void goAway(bool isNotice);
    void terminate(std::uint32_t code);
    void ping();
    void flush();
    /// Fails all streams, those that have not been answered as well.
    void endStreams(Error error);
    bool mayRequest() const;
    std::size_t mostStreams() const; // that the other side allows
    /// Adds the fields that HTTP/2 has: not those about the connection. `length` is the text of Content-Length.
    static void addFields(Fields& to, Headers const& headers, std::optional<std::uint64_t> size, std::string& length);
    void release(Http2Stream& stream); // out of streams_

    Reference<Connection> connection_;
    nghttp2_session* session_ = nullptr;
    Http2Limits limits_;
    std::vector<Reference<Http2Stream>> streams_;
    double idleSince_;    // when the last stream ended
    double headSince_;    // when an incomplete head began; infinite without one
    Trigger pinged_;      // the answer to ping() has come
    Trigger wake_;        // there is something to send
    bool isOver_ = false; // nothing more is read

private:
    struct Callbacks;
    static constexpr std::size_t kMostQueued = 1000;
    static constexpr RateLimit::Options kMostIdle = {.perSecond = 1000, .burst = 10'000};

    static Future<Void> read(Reference<Http2Session> self, Bytes first);
    static Future<Void> write(Reference<Http2Session> self);
    void feed(StringRef bytes);
    void settle();
    bool wantsMore() const;
    Reference<Http2Stream> addStream(std::int32_t id);
    void addLine(std::string_view name, std::string_view value);
    void noteField(Http2Stream& stream, std::string_view name, std::string_view value);
    void noteHead(Http2Stream& stream, bool isEnd);
    void noteReset();
    void noteId(std::int32_t id); // of a frame HEADERS from a client

    bool isServer_;
    std::string lines_; // the fields of the head that is coming, as Headers have them
    std::size_t headBytes_ = 0, headFields_ = 0;
    std::string authority_, host_, cookie_;
    std::vector<Reference<Http2Stream>> arrived_, ended_;
    RateLimit resets_, idle_;
    bool isOverrun_ = false;
    std::int32_t lastId_ = -1;
    std::pair<std::int32_t, std::int32_t> skippedIds_ = {0, 0}; // the first and last that lastId_ has skipped
};

} // namespace flow::net::http::detail
