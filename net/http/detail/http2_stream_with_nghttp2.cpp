#include "net/http/detail/http2_stream.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/http/detail/http2_session.h"
#include "net/http/detail/service.h"

#include <nghttp2/nghttp2.h>

namespace flow::net::http::detail {

void Http2Session::giveBody(Http2Stream& stream, Bytes body, Headers const& trailers) {
    stream.isLast = true;
    stream.piece = std::move(body);
    stream.sentAt = now();
    stream.sentTrailers = trailers;
    stream.session->wake_.trigger();
}

bool Http2Session::isTaken(Http2Stream& stream, double time) {
    if (!stream.session || stream.piece.empty() || stream.sentAt + time > now())
        return true;
    Error error = timed_out().withSentence("the other side does not take the body of an HTTP/2 message");
    stream.session->fail(stream, error, NGHTTP2_CANCEL);
    return false;
}

Future<Void> Http2Session::sendBody(Reference<Http2Stream> stream, Body body, Headers trailers, double time,
                                    Exchange const* exchange) {
    std::optional<std::uint64_t> left = body.size();
    while (stream->session && !stream->isLast) {
        Future<Bytes> reading = body.read();
        ErrorOr<Bytes> piece = co_await tryGet(std::move(reading));
        if (!stream->session)
            co_return;
        auto size = piece.isError() ? 0 : static_cast<std::uint64_t>(piece.get().size());
        if (!piece.isError() && left && (size > *left || (size == 0 && *left != 0)))
            piece = operation_failed().withSentence("the body of an HTTP/2 message has another size than it said");
        if (piece.isError()) {
            if (exchange)
                reportFailed(piece.getError(), *exchange, kBodyOfResponse);
            stream->session->fail(*stream, piece.getError(), NGHTTP2_INTERNAL_ERROR);
            co_return;
        }
        if (left)
            *left -= size;
        stream->isLast = size == 0 || left == 0;
        stream->piece = std::move(piece.get());
        stream->sentAt = now();
        if (stream->isLast)
            stream->sentTrailers = trailers.empty() ? body.trailers() : trailers;
        nghttp2_session_resume_data(stream->session->session_, stream->id);
        stream->session->wake_.trigger();
        while (stream->session && !stream->piece.empty()) {
            auto change = stream->changed.next();
            co_await race(change, delayUntil(stream->sentAt + time));
            if (!isTaken(*stream, time))
                co_return;
        }
    }
}

Http2Source::~Http2Source() {
    if (stream_->session)
        stream_->session->leaveUnread(*stream_);
}

Bytes Http2Source::take() {
    std::string taken = std::exchange(stream_->received, {});
    if (stream_->session)
        stream_->session->consume(*stream_, taken.size());
    return StringRef(taken);
}

Future<Bytes> Http2Source::next() {
    if (!stream_->received.empty())
        return take();
    return wait(Reference<Http2Source>::addRef(this));
}

Future<Bytes> Http2Source::wait(Reference<Http2Source> self) {
    Http2Stream& stream = *self->stream_;
    if (stream.session && std::exchange(stream.expectsContinue, false) && !stream.hasEnded)
        stream.session->sendContinue(stream);
    while (stream.received.empty() && !stream.error.isValid()) {
        if (stream.hasEnded) {
            self->trailers = stream.trailers;
            co_return Bytes();
        }
        auto change = stream.changed.next();
        auto first = co_await race(change, delay(self->time_));
        if (first.index() == 1) {
            Error error = timed_out().withSentence("the other side sends its body too slowly");
            if (!stream.session)
                co_await coro::fail(error);
            stream.session->fail(stream, error, NGHTTP2_CANCEL);
        }
    }
    if (stream.received.empty())
        co_await coro::fail(stream.error);
    co_return self->take();
}

} // namespace flow::net::http::detail
