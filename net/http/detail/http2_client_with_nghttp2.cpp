#include "net/http/detail/http2_client.h"

#include "flow/base/parse_number.h"
#include "flow/coro/coroutine.h"

#include <string>

namespace flow::net::http::detail {
namespace {

class Http2ClientSession final : public Http2Session {
public:
    Http2ClientSession(Reference<Connection> connection, Http2Limits const& limits)
        : Http2Session(std::move(connection), false, limits) {}

    Reference<Http2Stream> request(Request const& request, std::string const& scheme) {
        std::string length;
        Fields fields = {{":method", request.method}};
        std::string_view authority = request.headers.get("host");
        if (request.method != "CONNECT") {
            fields.emplace_back(":scheme", scheme);
            fields.emplace_back(":path", request.target);
        } else if (authority.empty()) {
            authority = request.target;
        }
        if (!authority.empty())
            fields.emplace_back(":authority", authority);
        bool hasLength = !request.body.isEmpty() || request.method == "POST" || request.method == "PUT";
        addFields(fields, request.headers, hasLength ? request.body.size() : std::nullopt, length);
        return submitRequest(fields, !request.body.isEmpty());
    }
    static Future<Void> sendBody(Reference<Http2Stream> stream, Body body, double time) {
        return Http2Session::sendBody(std::move(stream), std::move(body), {}, time, nullptr);
    }
    bool isOpen() const { return mayRequest(); }
    std::size_t streams() const { return streams_.size(); }
    using Http2Session::goAway;
    using Http2Session::limits_;
    using Http2Session::mostStreams;

    static Future<Void> exchange(Reference<Http2ClientSession> self) {
        Future<Void> running = run(self, Bytes());
        ErrorOr<Void> result = co_await tryGet(std::move(running));
        if (result.isError())
            self->connection_->abort();
        else
            self->connection_->close();
    }

private:
    void headHasCome(Reference<Http2Stream>) override {} // send() waits for `changed`
    void streamHasEnded(Http2Stream& stream) override {
        Reference<Http2Stream> held = Reference<Http2Stream>::addRef(&stream);
        release(stream);
        stream.work = Future<Void>();
    }
};

class Http2ClientOverSession final : public Http2Client {
public:
    Http2ClientOverSession(Reference<Connection> connection, Options options)
        : session_(makeReference<Http2ClientSession>(std::move(connection), options.limits)),
          options_(std::move(options)), running_(Http2ClientSession::exchange(session_)) {}

    Future<Response> send(Request request) override {
        return send(Reference<Http2ClientOverSession>::addRef(this), std::move(request));
    }
    bool isOpen() const override { return session_->isOpen(); }
    std::size_t streams() const override { return session_->streams(); }
    std::size_t mostStreams() const override { return session_->mostStreams(); }
    void close() override { session_->goAway(false); }

private:
    /// A body that holds the client, and with it the connection.
    class Source final : public Http2Source {
    public:
        Source(Reference<Http2Stream> stream, double time, Reference<Http2ClientOverSession> client)
            : Http2Source(std::move(stream), time), client_(std::move(client)) {}

    private:
        Reference<Http2ClientOverSession> client_;
    };

    static Future<Response> send(Reference<Http2ClientOverSession> self, Request request) {
        if (!self->isOpen())
            co_await coro::fail(retry().withSentence("the HTTP/2 connection takes no further requests"));
        Reference<Http2Stream> stream = self->session_->request(request, self->options_.scheme);
        auto source = makeReference<Source>(stream, self->options_.bodyTime, self); // a cancel resets the stream
        if (!request.body.isEmpty() && stream->session)
            stream->work =
                Http2ClientSession::sendBody(stream, std::move(request.body), self->session_->limits_.sendTime);
        for (auto change = stream->changed.next(); !stream->hasHead; change = stream->changed.next()) {
            if (stream->error.isValid())
                co_await coro::fail(stream->error);
            co_await change;
        }
        if (stream->isTooLarge)
            co_await coro::fail(
                value_too_large().withSentence("the head of the response has more bytes, or fields, than "
                                               "the limit"));
        Response response;
        response.version = Version::Http2;
        response.status = stream->status;
        response.headers = std::move(stream->headers);
        if (!stream->hasEnded || stream->bodyBytes != 0 || !stream->trailers.empty())
            response.body =
                Body::from(std::move(source), parseNumber<std::uint64_t>(response.headers.get("content-length")));
        co_return response;
    }

    Reference<Http2ClientSession> session_;
    Options options_;
    Future<Void> running_;
};

} // namespace

Reference<Http2Client> Http2Client::over(Reference<Connection> connection, Options options) {
    return makeReference<Http2ClientOverSession>(std::move(connection), std::move(options));
}

} // namespace flow::net::http::detail
