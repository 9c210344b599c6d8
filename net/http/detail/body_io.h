#pragma once
// Bodies on a connection of HTTP/1.1: receiving and sending.
//
//     auto source = makeReference<ReceivedBody>(connection, framing, limits);
//     request.body = Body::from(source, framing.size());
//     ...
//     if (!source->isAtEnd())                              // the body comes before the next message
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
    std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
    Seconds seconds = 30;            // for each kStep bytes, or for a shorter rest
    std::size_t trailerBytes = 8192; // also for the line before a chunk
    std::size_t trailerFields = 100;
};

/// Bodies move in steps of this many bytes. Each step has a time limit.
inline constexpr std::uint32_t kStep = 65536;

/// Reads the body after a head. It reads exactly the bytes of the body from the connection.
class ReceivedBody final : public BodySource {
public:
    ReceivedBody(Reference<Connection> connection, Framing const& framing, BodyLimits const& limits);
    Future<Bytes> next() override;

    /// True if the whole body was read: the connection is at the next message.
    bool isAtEnd() const { return state_ == State::End; }
    /// Returns the error of the body: wrong bytes, too many, or too slow.
    Refusal const& refusal() const { return refusal_; }
    /// Sets a text that the first read sends: "HTTP/1.1 100 Continue\r\n\r\n".
    void sendFirst(std::string_view text) { sendFirst_ = text; }
    /// True if the text of sendFirst() was not sent yet.
    bool wasNeverAsked() const { return !sendFirst_.empty(); }
    std::uint64_t received() const { return received_; }
    /// Ends all reading: a read that waits, and each later read, fails with operation_obsolete.
    void detach();

private:
    enum class State : std::uint8_t { Line, Data, DataEnd, Trailers, UntilEnd, End };

    static Future<Bytes> next(Reference<ReceivedBody> self);
    void takeLine(Bytes const& line);
    void takeTrailer(Bytes const& line);
    void takeData(Bytes const& piece);
    [[noreturn]] void fail(Error error, int status, char const* reason);

    Reference<Connection> connection_; // null when detached
    Promise<Void> detached_;           // sent by detach(), to end a read that waits
    BodyLimits limits_;
    State state_ = State::End;
    bool isChunked_ = false;
    std::string_view sendFirst_;
    std::uint64_t left_ = 0;     // bytes left of the chunk, or of the body
    std::uint64_t received_ = 0; // bytes of the body
    std::uint64_t excess_ = 0;   // bytes of chunk lines above the allowance: see kMostExcess
    double waited_ = 0;          // seconds that reads have waited in this step
    std::uint64_t stepEnd_ = kStep;
    std::string trailerText_;
    Refusal refusal_;
};

enum class Framed : std::uint8_t { Plain, Chunked };

/// Sends `before` and the body. If the first piece is ready, one write sends `before` with it. `seconds` is the limit
/// of each step. Fails with connection_timed_out if the other side does not read, operation_failed if the body has not
/// its announced size, and the error of the body. Then the caller must reset the connection: the message is not
/// complete. `sent` counts the bytes of the body. If the body fails, `ofBody` gets its error, unless `ofBody` is null.
/// An error of the connection is not stored there. The pointers must outlive the future.
Future<Void> sendBody(Connection* connection, std::string before, Body* body, Framed framed, Headers const* trailers,
                      Seconds seconds, std::uint64_t* sent, Error* ofBody = nullptr);
Future<Void> sendBytes(Connection* connection, Bytes before, Bytes bytes, Seconds seconds);

} // namespace flow::net::http::detail
