#include "net/http/detail/http2_session.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"

#include <nghttp2/nghttp2.h>

namespace flow::net::http::detail {

Future<Void> Http2Session::run(Reference<Http2Session> self, Bytes first) {
    struct End {
        Http2Session& session;
        ~End() { session.endStreams(connection_cut_off().withSentence("the HTTP/2 connection has ended")); }
    };
    End end{*self};
    Future<Void> reading = read(self, std::move(first));
    Future<Void> writing = write(self);
    co_await race(reading, writing);
}

Future<Void> Http2Session::read(Reference<Http2Session> self, Bytes first) {
    for (Bytes bytes = std::move(first);;) {
        self->feed(bytes);
        self->flush();
        if (self->isOver_ || !self->wantsMore())
            break;
        bytes = co_await self->connection_->read(kRead);
        if (bytes.empty())
            co_return;
    }
    self->wake_.trigger();
    co_await Future<Void>(Never()); // write() ends it, when all is sent
}

Future<Void> Http2Session::write(Reference<Http2Session> self) {
    Connection& connection = *self->connection_;
    for (;;) {
        auto more = self->wake_.next();
        self->flush();
        bool isEnd = !self->wantsMore();
        Drain room = isEnd ? connection.flushed() : connection.drainedTo(Connection::kHighWater / 2);
        auto first = co_await race(room, delay(self->limits_.sendTime));
        if (first.index() == 1)
            co_await coro::fail(timed_out().withSentence("the other side of the HTTP/2 connection does not read"));
        if (isEnd)
            co_return;
        co_await more;
    }
}

bool Http2Session::wantsMore() const {
    return nghttp2_session_want_write(session_) || (!isOver_ && nghttp2_session_want_read(session_));
}

void Http2Session::feed(StringRef bytes) {
    ssize_t done = nghttp2_session_mem_recv(session_, bytes.begin(), static_cast<std::size_t>(bytes.size()));
    std::size_t queued = nghttp2_session_get_outbound_queue_size(session_);
    if (done < 0)
        terminate(done == NGHTTP2_ERR_BAD_CLIENT_MAGIC ? NGHTTP2_PROTOCOL_ERROR : NGHTTP2_ENHANCE_YOUR_CALM);
    else if (isOverrun_ || queued > kMostQueued + streams_.size())
        terminate(NGHTTP2_ENHANCE_YOUR_CALM);
    settle();
}

void Http2Session::flush() {
    thread_local std::string gathered;
    bool isMore = true;
    while (isMore && connection_->queuedBytes() <= Connection::kHighWater) {
        gathered.clear();
        while (isMore && gathered.size() < Connection::kHighWater / 2) {
            std::uint8_t const* bytes = nullptr;
            ssize_t size = nghttp2_session_mem_send(session_, &bytes);
            isMore = size > 0;
            if (isMore)
                gathered.append(reinterpret_cast<char const*>(bytes), static_cast<std::size_t>(size));
        }
        if (!gathered.empty())
            connection_->write(Bytes(StringRef(gathered)));
    }
    if (isMore)
        wake_.trigger();
    settle();
}

void Http2Session::settle() {
    for (Reference<Http2Stream>& stream : std::exchange(arrived_, {}))
        if (stream->session)
            headHasCome(std::move(stream));
    for (Reference<Http2Stream> const& stream : std::exchange(ended_, {}))
        streamHasEnded(*stream);
}

void Http2Session::goAway(bool isNotice) {
    if (isNotice) {
        nghttp2_submit_shutdown_notice(session_);
    } else {
        std::int32_t last = nghttp2_session_get_last_proc_stream_id(session_);
        nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0);
    }
    wake_.trigger();
}

void Http2Session::terminate(std::uint32_t code) {
    isOver_ = true;
    nghttp2_session_terminate_session(session_, code);
    wake_.trigger();
}

void Http2Session::ping() {
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    wake_.trigger();
}

} // namespace flow::net::http::detail
