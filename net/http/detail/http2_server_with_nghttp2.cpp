#include "net/http/detail/http2_server.h"

#include "flow/base/parse_number.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/http/detail/http2_session.h"
#include "net/http/detail/request_span.h"
#include "net/http/detail/response_head.h"
#include "net/http/detail/syntax.h"

#include <algorithm>
#include <limits>

namespace flow::net::http::detail {
namespace {

constexpr std::uint32_t kNoError = 0, kRefusedStream = 7; // NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM

Http2Limits http2LimitsOf(ServerOptions const& options) {
    Http2Limits limits;
    limits.headBytes = options.headerBytes;
    limits.headFields = options.headerCount;
    limits.bodyBytes = options.bodyBytes;
    limits.sendTime = options.writeTime;
    return limits;
}

class Http2ServerSession final : public Http2Session {
public:
    Http2ServerSession(Service& service, Reference<Connection> connection, Event* ending)
        : Http2Session(connection, true, http2LimitsOf(service.options)), service_(service), ending_(ending),
          tls_(tlsFactsOf(*connection)), peer_(connection->peerAddress()) {}

    /// Ends the connection gracefully after the idle time, after the last allowed request, or when the server ends. The
    /// future is ready when a head takes too long.
    static Future<Void> watch(Reference<Http2ServerSession> self) {
        for (;;) {
            if (self->isHeadLate())
                co_return;
            if (self->idleAt() <= now())
                break;
            double next = self->lookAtPieces();
            auto first =
                co_await race(delayUntil(std::min(next, self->idleAt())), self->ending_->wait(), self->retired_.wait());
            if (first.index() != 0)
                break;
        }
        auto answer = self->pinged_.next();
        self->goAway(true);
        self->flush(); // otherwise nghttp2 would send the ping first
        self->ping();  // the answer comes after all requests that the client sent before it read the notice
        co_await race(answer, delay(1.0));
        self->goAway(false);
        self->isRefusing_ = true;
        self->flush();
        while (!self->isHeadLate())
            co_await delayUntil(self->lookAtPieces());
    }

private:
    /// Counts a running request, and calls onEnd at its end.
    struct Running {
        Running(Service& s, Http2Stream& t, Address const& peer) : service(s), stream(t) {
            ++service.counters.inFlight;
            exchange.method = stream.method;
            exchange.target = stream.target;
            exchange.version = Version::Http2;
            exchange.peer = &peer;
        }
        Running(Running const&) = delete;
        Running& operator=(Running const&) = delete;
        ~Running() {
            --service.counters.inFlight;
            exchange.received = stream.bodyBytes;
            exchange.sent = stream.sentBytes;
            exchange.seconds = now() - since;
            if (!exchange.context.isEmpty())
                endSpan(exchange, exchange.method);
            if (service.options.onEnd)
                service.options.onEnd(exchange);
        }

        Service& service;
        Http2Stream& stream;
        Exchange exchange;
        double since = now();
    };

    double idleAt() const {
        return streams_.empty() ? idleSince_ + double(service_.options.idle) : std::numeric_limits<double>::infinity();
    }
    bool isHeadLate() const { return headSince_ + double(service_.options.headerTime) <= now(); }

    /// Fails each stream if the client has not taken its piece in time. Returns the time of the next check.
    double lookAtPieces() {
        double next = now() + std::min(double(service_.options.headerTime), limits_.sendTime);
        for (Reference<Http2Stream> const& each : streams_)
            if (isTaken(*each, limits_.sendTime) && !each->piece.empty())
                next = std::min(next, each->sentAt + limits_.sendTime);
        return next;
    }

    void headHasCome(Reference<Http2Stream> stream) override {
        // The second GOAWAY names the last stream that is served: the client sends later requests again, on another
        // connection. Later streams still come while this GOAWAY waits behind bodies that the client does not read.
        if (isRefusing_)
            return reset(*stream, kRefusedStream);
        if (++requests_ == service_.options.requestsPerConnection)
            retired_.set();
        Http2Stream& held = *stream;
        Future<Void> work = answer(this, std::move(stream));
        held.work = std::move(work);
    }
    void streamHasEnded(Http2Stream& stream) override {
        if (stream.hasSent && stream.work.isValid() && !stream.work.isReady())
            return; // answer() will release it
        Reference<Http2Stream> held = Reference<Http2Stream>::addRef(&stream);
        release(stream);
        Future<Void> work = std::move(stream.work); // its destructor cancels the handler
    }

    static Future<Void> answer(Http2ServerSession* self, Reference<Http2Stream> stream) {
        Service& service = self->service_;
        std::optional<Running> running(std::in_place, service, *stream, self->peer_);
        Response response;
        std::optional<std::uint64_t> size = sizeOf(*stream);
        Refusal refusal;
        if (stream->isTooLarge)
            refusal = {431, "the fields are too large, or too many"};
        else if (size.value_or(0) > service.options.bodyBytes)
            refusal = {413, "the body is too large"};
        if (refusal) {
            ++service.counters.refused;
            self->leaveUnread(*stream);
            response = refusalOf(refusal);
        } else {
            Semaphore::Permit place = co_await service.places.permit();
            ++service.counters.requests;
            Future<Response> answering = self->call(stream, size, running->exchange);
            Error error;
            try {
                response = co_await std::move(answering);
            } catch (...) {
                error = errorOfHandler();
            }
            if (!stream->session || (stream->error.isValid() && stream->error != value_too_large()))
                co_return; // the client has ended the stream, or is too slow
            if (error.isValid())
                response = service.failed(error, nullptr, running->exchange);
        }
        if (!stream->session)
            co_return;
        bool hasBody = self->sendHead(*stream, response, running->exchange);
        running->exchange.status = response.status;
        if (hasBody && response.body.source())
            co_await sendBody(stream, std::move(response.body), std::move(response.trailers), self->limits_.sendTime,
                              &running->exchange);
        else if (hasBody)
            giveBody(*stream, response.body.takeBytes(), response.trailers);
        while (stream->session && !stream->hasSent) {
            auto change = stream->changed.next();
            co_await change;
        }
        running.reset();
        // After an error status the client may still send its body: give it a moment to end the stream itself.
        for (double until = now() + kLastSeconds; stream->session && now() < until;) {
            auto change = stream->changed.next();
            co_await race(change, delayUntil(until));
        }
        if (stream->session)
            self->reset(*stream, kNoError);
        else
            self->release(*stream);
    }

    /// Calls the handler. Not inlined, so that the coroutine's frame holds no Request.
    [[gnu::noinline]] Future<Response> call(Reference<Http2Stream> const& stream, std::optional<std::uint64_t> size,
                                            Exchange& exchange) {
        Request request;
        request.method = stream->method;
        request.target = stream->target;
        request.version = Version::Http2;
        request.headers = std::move(stream->headers);
        request.peer = peer_;
        request.tls = tls_;
        request.exchange = &exchange;
        stream->expectsContinue = request.headers.hasToken("expect", "100-continue");
        if (size != 0)
            request.body = Body::from(makeReference<Http2Source>(stream, service_.options.bodyTime), size);
        return service_.call(std::move(request), ending_, stream->trace);
    }

    /// Sends the head. It is made from the head for HTTP/1.1, so the same checks apply. Returns true if a body follows.
    bool sendHead(Http2Stream& stream, Response& response, Exchange const& exchange) {
        std::string& text = service_.scratch;
        text.clear();
        ResponseHead head = writeResponseHead(text, response, stream.method, Version::Http11, false, service_.date());
        if (response.upgrade)
            head.mistake = "HTTP/2 has no upgrades";
        if (head.mistake) {
            response = service_.failed(operation_failed().withSentence(head.mistake), nullptr, exchange);
            text.clear();
            head = writeResponseHead(text, response, stream.method, Version::Http11, false, service_.date());
        }
        std::string status = std::to_string(response.status);
        thread_local Fields fields;
        fields.assign({{":status", status}});
        std::string_view lines = std::string_view(text).substr(text.find("\r\n") + 2);
        lines.remove_suffix(2);
        for (Headers::Iterator each(lines); each != Headers::Iterator(); ++each)
            if (!isSameName(each->name, "transfer-encoding") && !isSameName(each->name, "connection"))
                fields.emplace_back(each->name, each->value);
        stream.status = response.status;
        bool hasBody = head.hasBody && (!response.body.isEmpty() || !response.trailers.empty());
        submitResponse(stream, fields, hasBody);
        return hasBody;
    }

    static std::optional<std::uint64_t> sizeOf(Http2Stream const& stream) {
        if (stream.hasEnded && stream.bodyBytes == 0 && stream.trailers.empty())
            return 0;
        return parseNumber<std::uint64_t>(stream.headers.get("content-length")); // nghttp2 has checked it
    }

    Service& service_;
    Event* ending_;
    Event retired_;
    std::shared_ptr<TlsFacts const> tls_;
    Address peer_;
    std::uint32_t requests_ = 0;
    bool isRefusing_ = false; // after the second GOAWAY
};

} // namespace

Future<Void> serveHttp2(Service* service, Reference<Connection> connection, Bytes first, Event* ending) {
    auto session = makeReference<Http2ServerSession>(*service, connection, ending);
    Future<Void> running = Http2Session::run(session, std::move(first)), watching = Http2ServerSession::watch(session);
    auto end = co_await race(running, watching);
    if (end.index() == 1)
        co_await coro::fail(timed_out());
    Future<Void> lingering = linger(connection);
    co_await std::move(lingering);
}

} // namespace flow::net::http::detail
