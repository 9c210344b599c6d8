#include "net/http/websocket.h"

#include "flow/base/random.h"
#include "flow/base/utf8.h"
#include "flow/combine/errors.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/http/detail/websocket_frame.h"

#include <algorithm>
#include <bit>
#include <new>
#include <random>

namespace flow::net::http {

using websocket::FrameHead;
using websocket::Opcode;

namespace {

constexpr std::size_t kPieceOfMessage = 16 * 1024; // bytes; a size that a peer only announces takes no memory
constexpr std::size_t kLargestReason = websocket::kLargestControl - 2;
constexpr std::size_t kLargestSent = std::size_t{1} << 30;

/// Returns a mask that earlier masks do not predict. Otherwise a web page could choose the bytes that a proxy sees.
std::optional<websocket::Mask> maskFor(WebSocket::Side side) {
    if (side == WebSocket::Side::Server)
        return {};
    thread_local std::random_device device; // nondeterminism: not in simulations
    std::uint32_t bits = Loop::current().isSimulated() ? deterministicRandom()->randomUInt32() : device();
    return std::bit_cast<websocket::Mask>(bits);
}

void checkWebSocket(bool isValid, char const* option, double value, char const* rule) {
    if (!isValid)
        throw wrongOption("WebSocketOptions", option, format("%g", value), rule);
}

Future<Void> dropWhatComes(Connection* connection, Propagate = {}) {
    for (;;) {
        Bytes piece = co_await connection->read();
        if (piece.empty())
            co_return;
    }
}

} // namespace

WebSocket::WebSocket(Reference<Connection> connection, Side side, WebSocketOptions options, std::string protocol)
    : connection_(std::move(connection)), options_(std::move(options)), protocol_(std::move(protocol)), side_(side) {
    checkWebSocket(options_.largestMessage > 0, "largestMessage", 0, "it must be at least 1");
    checkWebSocket(options_.pingEvery >= 0, "pingEvery", options_.pingEvery, "it must not be negative");
    checkWebSocket(options_.pongWithin > 0, "pongWithin", options_.pongWithin, "it must be more than 0");
    checkWebSocket(options_.closeWithin > 0, "closeWithin", options_.closeWithin, "it must be more than 0");
    running_ = run();
}

WebSocket::~WebSocket() {
    running_ = Future<Void>(); // run() uses the other members
    try {
        sendClose(websocket::kGoingAway, "");
    } catch (std::bad_alloc&) { // the other side sees an end without a Close
    }
    connection_->close();
}

Drain WebSocket::send(std::string_view payload, bool isText) {
    Error error;
    if (closing_.isSet() || end_.isValid())
        error = operation_obsolete();
    else if (payload.size() > kLargestSent)
        error = value_too_large().withSentence("WebSocket: a message to send is above 1 GiB");
    else if (isText && !isUtf8(payload))
        error =
            client_invalid_operation().withSentence("WebSocket: a text to send is not UTF-8; sendBinary() takes it");
    if (error.isValid())
        return {connection_.getPtr(), 0, error};
    return connection_->write(makeFrame(isText ? Opcode::Text : Opcode::Binary, payload, maskFor(side_)));
}

WebSocketMessage WebSocket::take(Channel<WebSocketMessage>::Receive& next) {
    if (messages_.size() == 0)
        throw end_;
    return next.take();
}

Event::Wait WebSocket::close(int code, std::string_view reason, std::source_location caller) {
    FLOW_ASSERT_AT(caller, websocket::isCloseCode(code), "WebSocket::close(): the code is not one that may be sent");
    FLOW_ASSERT_AT(caller, reason.size() <= kLargestReason && isUtf8(reason),
                   "WebSocket::close(): the reason is not UTF-8 of at most 123 bytes");
    if (closeCode_ == 0) {
        closeCode_ = code;
        closeReason_ = reason;
        sendClose(code, reason);
        endReceiving(end_of_stream());
    }
    return ended_.wait();
}

/// Sends a Close, unless one was sent. Does not wait for room, because no message follows.
void WebSocket::sendClose(int code, std::string_view reason) {
    if (closing_.isSet())
        return;
    closing_.set();
    if (connection_->failure().isValid() && connection_->failure() != end_of_stream())
        return;
    std::string payload;
    if (code != websocket::kNoCode) {
        payload = {static_cast<char>(code >> 8), static_cast<char>(code)};
        payload += reason;
    }
    connection_->write(makeFrame(Opcode::Close, payload, maskFor(side_)));
}

void WebSocket::endReceiving(Error error) {
    if (end_.isValid())
        return;
    end_ = error;
    messages_.close();
}

void WebSocket::refuse(int code, Error error, char const* what) {
    Error said = error.withSentence(std::string("WebSocket: the other side has sent ") + what);
    if (closeCode_ == 0) {
        closeCode_ = code;
        closeReason_ = std::string(what);
    }
    sendClose(code, what);
    throw said;
}

void WebSocket::takeClose(std::string_view payload) {
    int code = websocket::kNoCode;
    if (payload.size() >= 2)
        code = static_cast<std::uint8_t>(payload[0]) << 8 | static_cast<std::uint8_t>(payload[1]);
    if (payload.size() == 1 || (!payload.empty() && !websocket::isCloseCode(code)))
        refuse(websocket::kProtocolError, serialization_failed(), "a close with an invalid code");
    std::string_view reason = payload.substr(std::min<std::size_t>(payload.size(), 2));
    if (!isUtf8(reason))
        refuse(websocket::kInvalidText, serialization_failed(), "a reason that is not UTF-8");
    if (closeCode_ == 0) {
        closeCode_ = code;
        closeReason_ = reason;
    }
    sendClose(code, "");
}

/// Reads messages until the other side's Close.
Future<Void> WebSocket::readMessages(Propagate) {
    WebSocketMessage message;
    std::string control;
    for (bool isWithin = false;;) {
        std::uint8_t bytes[websocket::kLargestHead];
        std::size_t headSize = 2;
        co_await connection_->readExactly(std::span(bytes, 2));
        if (std::size_t rest = websocket::restOfHead(bytes[1])) {
            co_await connection_->readExactly(std::span(bytes + 2, rest));
            headSize += rest;
        }
        ++heard_;
        FrameHead head(std::span(bytes, headSize));
        if (char const* fault = head.fault(side_ == Side::Server, isWithin))
            refuse(websocket::kProtocolError, serialization_failed(), fault);
        control.clear();
        std::string& into = head.isControl() ? control : message.data;
        if (!head.isControl() && head.size > options_.largestMessage - into.size())
            refuse(websocket::kTooBig, value_too_large(), "a message above the limit");
        std::size_t begin = into.size();
        for (std::size_t end = begin + head.size; into.size() < end;) {
            std::size_t place = into.size();
            into.resize(std::min(end, place + kPieceOfMessage));
            std::size_t count = co_await connection_->readSome(std::span(into).subspan(place));
            if (count == 0)
                throw connection_cut_off();
            ++heard_;
            into.resize(place + count);
        }
        if (head.isMasked)
            websocket::applyMask({reinterpret_cast<std::uint8_t*>(into.data()) + begin, into.size() - begin},
                                 head.mask);
        if (head.opcode() == Opcode::Close) {
            takeClose(control);
            hasClose_ = true;
            co_return;
        }
        if (head.opcode() == Opcode::Ping && !closing_.isSet()) {
            Bytes pong = makeFrame(Opcode::Pong, control, maskFor(side_));
            co_await connection_->write(std::move(pong)); // so a peer that does not read its pongs is not read further
        }
        if (head.isControl())
            continue;
        if (!isWithin)
            message.isText = head.opcode() == Opcode::Text;
        isWithin = !head.isLast();
        if (isWithin)
            continue;
        if (message.isText && !isUtf8(message.data))
            refuse(websocket::kInvalidText, serialization_failed(), "a text that is not UTF-8");
        isFull_ = messages_.size() != 0;
        Future<Void> sending = keep(messages_.send(std::move(message)));
        co_await tryGet(std::move(sending)); // fails if close() has closed the channel
        isFull_ = false;
        ++heard_;
        message = WebSocketMessage();
    }
}

/// Sends pings. Returns when the other side was silent for too long. While messages wait for receive(), the socket does
/// not read, so silence does not count.
Future<Void> WebSocket::sendPings(Propagate) {
    if (options_.pingEvery == 0)
        co_await Future<Void>(Never());
    for (;;) {
        std::uint64_t heard = heard_;
        co_await delay(options_.pingEvery);
        if (heard != heard_ || isFull_ || closing_.isSet())
            continue;
        connection_->write(makeFrame(Opcode::Ping, "", maskFor(side_)));
        double due = now() + options_.pongWithin;
        co_await delay(options_.pongWithin);
        bool wasStopped = now() > due + options_.pongWithin / 2; // this process was stopped, so a pong may be unread
        if (heard == heard_ && !isFull_ && !wasStopped)
            co_return;
    }
}

Future<Void> WebSocket::closeLimit(Propagate) {
    co_await closing_.wait();
    co_await delay(options_.closeWithin);
}

Future<Void> WebSocket::run(Propagate) {
    Error error = end_of_stream();
    bool isInTime = true;
    {
        Future<ErrorOr<Void>> reading = errorOr(readMessages());
        Future<Void> pings = sendPings();
        Future<Void> limit = closeLimit();
        auto first = co_await race(reading, pings, limit);
        isInTime = first.index() == 0;
        if (!isInTime)
            error = connection_timed_out();
        else if (std::get<0>(first).isError())
            error = std::get<0>(first).getError();
    }
    if (error == end_of_stream() && !hasClose_)
        error = connection_cut_off();
    if (closeCode_ == 0)
        closeCode_ = websocket::kNoClose;
    endReceiving(error);
    // Read and drop later bytes. A close with unread bytes would reset the connection, and the other side might lose
    // our Close.
    if (isInTime && closing_.isSet() && !connection_->failure().isValid()) {
        if (side_ == Side::Server)
            connection_->shutdownWrite();
        Future<ErrorOr<Void>> dropping = errorOr(dropWhatComes(connection_.getPtr()));
        auto last = co_await race(dropping, delay(options_.closeWithin));
        isInTime = last.index() == 0;
    }
    if (isInTime)
        connection_->close();
    else
        connection_->abort();
    ended_.set();
}

} // namespace flow::net::http
