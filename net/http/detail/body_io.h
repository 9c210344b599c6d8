#pragma once
// Bodies on a connection of HTTP/1.1: receiving and sending.
//
//     auto source = makeReference<ReceivedBody>(connection, framing, limits);
//     request.body = Body::from(source, framing.size());
//     ...
//     if (!source->isAtEnd())                              // the next message begins only behind the body
//         ...
//     source->detach();                                    // later reads fail
//
//     co_await sendBody(connection, head, &body, Framed::Chunked, &trailers, seconds, &count);

#include "flow/base/seconds.h"
#include "flow/core/future.h"
#include "net/http/detail/head.h"

#include <limits>

namespace flow::net::http::detail {

struct BodyLimits {
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max(); // of the whole body
    Seconds seconds = 30;                                            // for each kStep bytes, or what is left of them
    std::size_t trailerBytes = 8192;                                 // also for the line before a chunk
    std::size_t trailerFields = 100;
};

/// A step of a body: for it a time limit holds, and so many bytes are received or sent at once at most.
inline constexpr std::uint32_t kStep = 65536;

/// The body that follows a head on a connection. It takes from the connection exactly the bytes of the body.
class ReceivedBody final : public BodySource {
public:
    ReceivedBody(Reference<Connection> connection, Framing const& framing, BodyLimits const& limits);
    Future<Bytes> next() override;

    /// True if the whole body was read: the connection is at the next message.
    bool isAtEnd() const { return state_ == State::End; }
    /// What was wrong with the body: its bytes, its size or its speed.
    Refusal const& refusal() const { return refusal_; }
    /// Is sent before the first read: "HTTP/1.1 100 Continue\r\n\r\n".
    void sendFirst(std::string_view text) { sendFirst_ = text; }
    /// True if the text of sendFirst() was not sent, since nothing has read the body.
    bool wasNeverAsked() const { return !sendFirst_.empty(); }
    /// The number of bytes of the body so far.
    std::uint64_t received() const { return received_; }
    /// Ends all reading; what waits, and later calls, fail with operation_obsolete.
    void detach();

private:
    enum class State : std::uint8_t { Line, Data, DataEnd, Trailers, UntilEnd, End };

    static Future<Bytes> next(Reference<ReceivedBody> self);
    /// Each of these takes what was read, and sets the state for the next step.
    void takeLine(Bytes const& line);
    void takeTrailer(Bytes const& line);
    void takeData(Bytes const& piece);
    [[noreturn]] void fail(Error error, int status, char const* reason);

    Reference<Connection> connection_; // null when detached
    Promise<Void> detached_;           // sent by detach(): what waits ends at once, before it could take more
    BodyLimits limits_;
    State state_ = State::End;
    bool isChunked_ = false;
    std::string_view sendFirst_;
    std::uint64_t left_ = 0;     // bytes of the chunk, or of the body
    std::uint64_t received_ = 0; // bytes of the body
    std::uint64_t excess_ = 0;   // bytes of lines before chunks beyond what the data justifies
    double waited_ = 0;          // seconds for which reads have waited in this step
    std::uint64_t stepEnd_ = kStep;
    std::string trailerText_;
    Refusal refusal_;
};

/// How a body is sent.
enum class Framed : std::uint8_t { Plain, Chunked };

/// Sends `before`, which may be empty, and the body; `before` goes with the first piece if that is there. `seconds` is
/// the time for each step. Fails with connection_timed_out if the other side does not take the bytes, with
/// operation_failed if the body has another size than it has promised, and with the error of the body. Then the caller
/// resets the connection: the other side must not take the message for whole. `sent` counts the bytes of the body. All
/// that is pointed to must outlive the future.
Future<Void> sendBody(Connection* connection, std::string before, Body* body, Framed framed, Headers const* trailers,
                      Seconds seconds, std::uint64_t* sent);
/// Writes `before` and the bytes in steps.
Future<Void> sendBytes(Connection* connection, Bytes before, Bytes bytes, Seconds seconds);

} // namespace flow::net::http::detail
