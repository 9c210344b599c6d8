#include "net/http/detail/http2_session.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"

#include <nghttp2/nghttp2.h>

#include <memory>
#include <span>
#include <utility>

namespace flow::net::http::detail {

/// Returns the receive buffer of the thread. All sessions share it, since feed() uses the bytes at once. It is on the
/// heap, since a thread_local array would take room from the thread's stack.
static std::span<std::uint8_t> readRoom() {
    constexpr std::size_t kRead = 16 * 1024;
    thread_local auto room = std::make_unique_for_overwrite<std::uint8_t[]>(kRead);
    return {room.get(), kRead};
}

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
    self->feed(first);
    first = Bytes();
    for (;;) {
        self->flush();
        if (self->isOver_ || !self->wantsMore())
            break;
        std::size_t count = co_await self->connection_->readSome(readRoom());
        if (count == 0)
            co_return;
        self->feed(StringRef(readRoom().data(), static_cast<int>(count)));
    }
    self->wake_.trigger();
    co_await Future<Void>(Never()); // write() ends the session when everything is sent
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
        StringRef rest(gathered);
        rest = rest.substr(static_cast<int>(connection_->tryWrite({&rest, 1})));
        if (!rest.empty())
            connection_->write(Bytes(rest));
    }
    if (isMore)
        wake_.trigger();
    settle();
}

void Http2Session::settle() {
    for (Reference<Http2Stream>& stream : arrived_)
        if (stream->session)
            headHasCome(std::move(stream));
    arrived_.clear();
    for (Reference<Http2Stream> const& stream : ended_)
        streamHasEnded(*stream);
    ended_.clear();
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

Reference<Http2Stream> Http2Session::addStream(std::int32_t id) {
    auto stream = makeReference<Http2Stream>();
    stream->session = this;
    stream->id = id;
    stream->place = streams_.size();
    streams_.push_back(stream);
    return stream;
}

void Http2Session::release(Http2Stream& stream) {
    if (stream.place >= streams_.size() || streams_[stream.place].getPtr() != &stream)
        return;
    std::swap(streams_[stream.place], streams_.back());
    streams_[stream.place]->place = stream.place;
    Reference<Http2Stream> last = std::move(streams_.back());
    streams_.pop_back();
    if (streams_.empty())
        idleSince_ = now();
}

void Http2Session::endStreams(Error error) {
    isOver_ = true;
    for (Reference<Http2Stream> const& stream : std::exchange(streams_, {})) {
        stream->session = nullptr;
        if (!stream->hasEnded && !stream->error.isValid())
            stream->error = error;
        stream->changed.trigger();
        stream->work = Future<Void>();
    }
}

void Http2Session::consume(Http2Stream& stream, std::size_t bytes) {
    if (isServer_ && !stream.hasEnded)
        nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, stream.id,
                                              static_cast<std::int32_t>(limits_.streamWindow));
    nghttp2_session_consume(session_, stream.id, bytes);
    wake_.trigger();
}

void Http2Session::leaveUnread(Http2Stream& stream) {
    stream.isUnread = true;
    nghttp2_session_consume(session_, stream.id, std::exchange(stream.received, {}).size());
    wake_.trigger();
    if (!isServer_ && !(stream.hasEnded && stream.hasSent))
        reset(stream, NGHTTP2_CANCEL);
}

void Http2Session::reset(Http2Stream& stream, std::uint32_t code) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, code);
    wake_.trigger();
}

void Http2Session::fail(Http2Stream& stream, Error error, std::uint32_t code) {
    if (!stream.error.isValid())
        stream.error = error;
    stream.changed.trigger();
    reset(stream, code);
}

bool Http2Session::mayRequest() const {
    return !isOver_ && nghttp2_session_check_request_allowed(session_);
}

std::size_t Http2Session::mostStreams() const {
    return nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}

} // namespace flow::net::http::detail
