// A client's HTTP/2 connection, which several requests share.

#include "flow/base/format.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/http/detail/client_connection.h"
#include "net/http/detail/http2_client.h"

#include <algorithm>

namespace flow::net::http::detail {
namespace {

[[noreturn]] void fail(ExchangeLimits const& limits, double until) {
    throw timed_out().withSentence(
        until < limits.deadline ? format("no answer has come within %g s (firstByteTimeout)", double(limits.firstByte))
                                : "it took longer than `timeout`");
}

/// The body of an answer, with the limits of its exchange.
class LimitedBody final : public BodySource {
public:
    LimitedBody(Body body, Attempt const& attempt)
        : body_(std::move(body)), about_(attempt.about), limits_(attempt.limits) {}
    Future<Bytes> next() override { return read(Reference<LimitedBody>::addRef(this)); }

private:
    static Future<Bytes> read(Reference<LimitedBody> self) {
        if (self->error_.isValid())
            throw self->error_;
        try {
            Future<Bytes> reading = self->body_.read();
            auto first = co_await race(reading, delayUntil(self->limits_.deadline));
            if (first.index() == 1)
                fail(self->limits_, self->limits_.deadline);
            Bytes piece = std::get<0>(std::move(first));
            self->received_ += static_cast<std::uint64_t>(piece.size());
            if (self->received_ > self->limits_.bodyBytes)
                throw value_too_large().withSentence("the answer's body has more than `bodyBytes`");
            if (piece.empty())
                self->trailers = self->body_.trailers();
            co_return piece;
        } catch (Error& error) {
            if (error == actor_cancelled())
                throw;
            self->error_ = errorAbout(self->about_, error);
            self->body_ = Body(); // resets the stream
            throw self->error_;
        }
    }

    Body body_;
    std::string about_;
    ExchangeLimits limits_;
    std::uint64_t received_ = 0;
    Error error_; // of all later reads
};

class SharedConnection final : public ClientConnection {
public:
    explicit SharedConnection(Reference<Http2Client> client) : client_(std::move(client)) {}

    Future<Response> send(Lease lease, Attempt* attempt) override {
        Request request;
        request.method = attempt->request->method;
        request.target = attempt->url->target;
        request.headers = attempt->request->headers;
        if (!request.headers.has("Host"))
            request.headers.add("Host", attempt->url->authority());
        request.body = std::move(attempt->body);
        // A streamed body may take any time, so firstByteTimeout does not apply.
        bool isStream = bool(request.body.source());
        Future<Response> sending = client_->send(std::move(request));
        lease.giveBack(); // the next request may use the connection now
        return answer(std::move(sending), attempt, isStream);
    }
    bool isHealthy() override { return client_->isOpen() && client_->streams() < client_->mostStreams(); }
    void abort() override {} // other requests use the connection; dropping a future resets its stream

private:
    static Future<Response> answer(Future<Response> sending, Attempt* attempt, bool isStream) {
        double deadline = attempt->limits.deadline;
        double until = isStream ? deadline : std::min(deadline, now() + attempt->limits.firstByte);
        try {
            auto first = co_await race(sending, delayUntil(until));
            if (first.index() == 1)
                fail(attempt->limits, until);
            Response response = std::get<0>(std::move(first));
            std::optional<std::uint64_t> size = response.body.size();
            if (size.value_or(0) > attempt->limits.bodyBytes)
                throw value_too_large().withSentence("the answer's body has more than `bodyBytes`");
            if (size != 0u)
                response.body = Body::from(makeReference<LimitedBody>(std::move(response.body), *attempt), size);
            co_return std::move(response);
        } catch (Error& error) {
            attempt->wasUnanswered = isConnectionError(error);
            throw;
        }
    }

    Reference<Http2Client> client_;
};

} // namespace

bool const kSpeaksHttp2 = true;

Reference<ClientConnection> makeHttp2Client(Reference<Connection> connection, bool isSecure,
                                            ClientOptions const& options) {
    Http2Client::Options settings;
    settings.scheme = isSecure ? "https" : "http";
    settings.bodyTime = options.idleTimeout;
    settings.limits.sendTime = options.idleTimeout;
    settings.limits.headBytes = options.headBytes;
    settings.limits.headFields = options.headFields;
    return makeReference<SharedConnection>(Http2Client::over(std::move(connection), std::move(settings)));
}

} // namespace flow::net::http::detail
