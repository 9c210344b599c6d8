#pragma once
// Http2Session: the base of HTTP/2 servers and clients: frames (by nghttp2), streams and limits.
//
//     class Server : Http2Session {
//         void headHasCome(Reference<Http2Stream> stream) override;       // a request
//     };
//     co_await Http2Session::run(session, bytes);                         // until the connection ends
//
// nghttp2 calls back inside of feed() and flush(). The callbacks only note events. Handlers are started and dropped
// after the call, so no code of a program runs inside of nghttp2.
//
// Memory. A stream holds at most its window of unread bytes; when a reader takes bytes, the window opens again. At a
// server, a stream has the small `unreadWindow` until its body is read, and the connection's window is large enough for
// all streams. So requests that wait for their handler never block the body of a running one. A client opens as many
// streams as its program wants, so its connection has a window of 1 GiB. A head has at most `headBytes`. The session
// ends with ENHANCE_YOUR_CALM in three cases: more than kMostQueued frames wait because the other side does not read
// them, more streams end early than `resets` allows, or more frames without content come than kMostIdle allows.

#include "flow/sync/rate_limit.h"
#include "net/http/detail/http2_stream.h"

#include <utility>
#include <vector>

struct nghttp2_session;

namespace flow::net::http::detail {

struct Http2Limits {
    std::size_t headBytes = 64 * 1024; // of the fields in a head, plus 32 for each field (RFC 9113, 6.5.2)
    std::size_t headFields = 100;
    std::uint64_t bodyBytes = UINT64_MAX;
    std::uint32_t streams = 100;             // that the other side may open at a time
    std::uint32_t streamWindow = 256 * 1024; // bytes
    std::uint32_t unreadWindow = 16 * 1024;  // at a server, until the body is read
    RateLimit::Options resets = {.perSecond = 30, .burst = 200};
    double sendTime = 60; // the longest time in seconds without progress in sending
};

class Http2Session : public ReferenceCounted<Http2Session> {
public:
    Http2Session(Reference<Connection> connection, bool isServer, Http2Limits const& limits);
    virtual ~Http2Session();
    Http2Session(Http2Session const&) = delete;
    Http2Session& operator=(Http2Session const&) = delete;

    /// Reads and writes frames until the connection ends, or has nothing more to do. `first`: the bytes that were
    /// already read. Fails with the connection's error, or with timed_out. All streams end with the future.
    static Future<Void> run(Reference<Http2Session> self, Bytes first);

    // For the streams:
    /// Opens the window again after a reader has taken bytes of the body.
    void consume(Http2Stream& stream, std::size_t bytes);
    void reset(Http2Stream& stream, std::uint32_t code);
    /// Resets the stream; its waiters get the error.
    void fail(Http2Stream& stream, Error error, std::uint32_t code);
    void sendContinue(Http2Stream& stream);
    /// Drops the bytes of the body, since nothing will read them.
    void leaveUnread(Http2Stream& stream);

protected:
    using Fields = std::vector<std::pair<std::string_view, std::string_view>>;

    virtual void headHasCome(Reference<Http2Stream> stream) = 0;
    /// Called when a stream has ended, after its `session` has become null.
    virtual void streamHasEnded(Http2Stream& stream) { stream.work = Future<Void>(); }

    /// Submits a head; the names may have capital letters. If `hasBody`, call sendBody() or giveBody() next. Returns
    /// false if the stream has ended.
    bool submitResponse(Http2Stream& stream, Fields const& fields, bool hasBody);
    Reference<Http2Stream> submitRequest(Fields const& fields, bool hasBody);
    /// Sends a body that is in memory.
    static void giveBody(Http2Stream& stream, Bytes body, Headers const& trailers);
    /// Fails the stream, and returns false, if the other side has taken nothing of a piece for `time` seconds.
    static bool isTaken(Http2Stream& stream, double time);
    /// Sends the body. If the body fails or has not its announced size, or if the other side does not take it, the
    /// stream fails with the error and is reset. A server passes its `exchange`: then an error of the body is reported
    /// as dropped, with the request.
    static Future<Void> sendBody(Reference<Http2Stream> stream, Body body, Headers trailers, double time,
                                 Exchange const* exchange);

    /// Sends GOAWAY: the session takes no further streams. With `isNotice`, the frame only announces this.
    void goAway(bool isNotice);
    void terminate(std::uint32_t code);
    void ping();
    void flush();
    /// Ends all streams. The streams that are not complete get the error.
    void endStreams(Error error);
    bool mayRequest() const;
    std::size_t mostStreams() const; // the limit of the other side
    /// Adds the fields, without those that HTTP/2 forbids. `length` holds the text of Content-Length.
    static void addFields(Fields& to, Headers const& headers, std::optional<std::uint64_t> size, std::string& length);
    void release(Http2Stream& stream); // removes it from streams_

    Reference<Connection> connection_;
    nghttp2_session* session_ = nullptr;
    Http2Limits limits_;
    std::vector<Reference<Http2Stream>> streams_;
    double idleSince_; // when the last stream ended
    double headSince_; // when an incomplete head began; infinite without one
    Trigger pinged_;   // the answer to ping() has come
    Trigger wake_;
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
    void noteId(std::int32_t id); // of a HEADERS frame from a client

    bool isServer_;
    std::string lines_; // the fields of the head that is arriving, as the text of Headers
    std::size_t headBytes_ = 0, headFields_ = 0;
    std::string authority_, host_, cookie_;
    std::vector<Reference<Http2Stream>> arrived_, ended_;
    RateLimit resets_, idle_;
    bool isOverrun_ = false;
    std::int32_t lastId_ = -1;
    std::pair<std::int32_t, std::int32_t> skippedIds_ = {0, 0}; // the last gap between stream ids: first and last id
};

} // namespace flow::net::http::detail
