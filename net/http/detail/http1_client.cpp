// HTTP/1.1 clients: one request at a time on a connection.

#include "flow/base/format.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/sync/event.h"
#include "flow/wait/delay.h"
#include "net/http/detail/body_io.h"
#include "net/http/detail/client_connection.h"

#include <algorithm>
#include <limits>

namespace flow::net::http::detail {
namespace {

/// A request and the body of its answer.
class ClientExchange final : public BodySource {
public:
    ClientExchange(ClientConnection::Lease lease, Reference<Connection> connection, Attempt* attempt)
        : lease_(std::move(lease)), connection_(std::move(connection)), about_(attempt->about),
          limits_(attempt->limits), requestBody_(std::move(attempt->body)) {}

    static Future<Response> run(Reference<ClientExchange> self, Attempt* attempt);
    Future<Bytes> next() override { return read(Reference<ClientExchange>::addRef(this)); }

private:
    static constexpr double kContinueSeconds = 1; // the wait of a request with Expect for "100 Continue"

    void begin(Request const& request, Url const& url);
    static Future<Void> sendAll(ClientExchange* self, std::string head, bool waits);
    static Future<Bytes> readHead(ClientExchange* self, double* until);
    static Future<Bytes> read(Reference<ClientExchange> self);
    void end();
    void stop();

    ClientConnection::Lease lease_;
    Reference<Connection> connection_;
    std::string about_;
    ExchangeLimits limits_;
    Framing framing_;
    Reference<ReceivedBody> received_;
    bool isLast_ = false; // the request has "Connection: close"
    Error error_;         // of all later reads
    Error sendError_;
    Event mayContinue_;
    Body requestBody_;
    std::uint64_t sent_ = 0;
    Future<Void> sending_; // invalid without a body; declared last, since it uses the other members
};

class Http1Client final : public ClientConnection {
public:
    explicit Http1Client(Reference<Connection> connection) : connection_(std::move(connection)) {}

    Future<Response> send(Lease lease, Attempt* attempt) override {
        auto exchange = makeReference<ClientExchange>(std::move(lease), connection_, attempt);
        return ClientExchange::run(std::move(exchange), attempt);
    }
    bool isHealthy() override { return isQuiet(*connection_); }
    void abort() override { connection_->abort(); }

private:
    Reference<Connection> connection_;
};

void ClientExchange::begin(Request const& request, Url const& url) {
    std::string head = request.method + " " + url.target + " HTTP/1.1\r\n";
    if (!request.headers.has("Host"))
        head += "Host: " + url.authority() + "\r\n";
    head += request.headers.text();
    std::optional<std::uint64_t> size = requestBody_.size();
    bool needsLength = request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
    if (!size)
        head += "Transfer-Encoding: chunked\r\n";
    else if (*size != 0 || needsLength)
        head += format("Content-Length: %llu\r\n", static_cast<unsigned long long>(*size));
    head += "\r\n";
    isLast_ = request.headers.hasToken("Connection", "close");
    bool waits = request.headers.hasToken("Expect", "100-continue");
    if (size != 0u)
        sending_ = sendAll(this, std::move(head), waits);
    else
        (void)connection_->write(StringRef(head));
}

/// Sends the head and the body. Ignores an error of the connection, which the reader of the answer gets too. After
/// another error it aborts the connection.
Future<Void> ClientExchange::sendAll(ClientExchange* self, std::string head, bool waits) {
    if (waits) {
        (void)self->connection_->write(StringRef(std::exchange(head, {})));
        co_await race(self->mayContinue_.wait(), delay(kContinueSeconds));
    }
    static Headers const none;
    Framed framed = self->requestBody_.size() ? Framed::Plain : Framed::Chunked;
    Future<Void> sending = sendBody(self->connection_.getPtr(), std::move(head), &self->requestBody_, framed, &none,
                                    self->limits_.idle, &self->sent_);
    ErrorOr<Void> result = co_await tryGet(std::move(sending));
    if (!result.isError() || result.isError(error_code_actor_cancelled))
        co_return;
    if (!self->connection_->failure().isValid()) {
        self->sendError_ = result.getError(); // the body has failed, or the server does not read
        self->connection_->abort();
    }
}

/// Reads one head. Sets `until` to the end of firstByteTimeout once the request was sent.
Future<Bytes> ClientExchange::readHead(ClientExchange* self, double* until) {
    ReadUntil head = self->connection_->readUntil("\r\n\r\n"_sr, static_cast<std::uint32_t>(self->limits_.headBytes));
    if (self->sending_.isValid() && !self->sending_.isReady()) {
        auto first = co_await race(head, self->sending_, delayUntil(self->limits_.deadline));
        if (first.index() == 0)
            co_return std::get<0>(std::move(first));
    }
    *until = std::min(*until, now() + self->limits_.firstByte);
    auto first = co_await race(head, delayUntil(*until));
    if (first.index() == 0)
        co_return std::get<0>(std::move(first));
    throw timed_out().withSentence(
        *until < self->limits_.deadline
            ? format("no answer has come within %g s (firstByteTimeout)", double(self->limits_.firstByte))
            : "it took longer than `timeout`");
}

Future<Response> ClientExchange::run(Reference<ClientExchange> self, Attempt* attempt) {
    bool hasAnswer = false;
    try {
        self->begin(*attempt->request, *attempt->url);
        Response response;
        double until = self->limits_.deadline;
        for (;;) {
            Future<Bytes> reading = readHead(self.getPtr(), &until);
            Bytes head = co_await std::move(reading);
            hasAnswer = true;
            Refusal refusal =
                parseResponse(head, self->limits_.headFields, attempt->request->method, response, self->framing_);
            if (refusal)
                throw serialization_failed().withSentence(std::string("the answer is wrong: ") + refusal.reason);
            if (response.status >= 200)
                break;
            if (response.status == 101)
                throw serialization_failed().withSentence("the answer is wrong: it changes the protocol unasked");
            if (response.status == 100)
                self->mayContinue_.set();
        }
        std::optional<std::uint64_t> size = self->framing_.size();
        if (size.value_or(0) > self->limits_.bodyBytes)
            throw value_too_large().withSentence("the answer's body has more than `bodyBytes`");
        BodyLimits limits;
        limits.bytes = self->limits_.bodyBytes;
        limits.seconds = std::numeric_limits<double>::infinity(); // read() has its own limit
        self->received_ = makeReference<ReceivedBody>(self->connection_, self->framing_, limits);
        if (self->received_->isAtEnd())
            self->end();
        else
            response.body = Body::from(self, size);
        co_return std::move(response);
    } catch (Error& error) {
        if (self->sendError_.isValid())
            throw self->sendError_;
        bool isOver = error == end_of_stream() || isConnectionError(error);
        attempt->wasUnanswered = isOver && !hasAnswer && self->connection_->bufferedBytes() == 0;
        if (error == end_of_stream())
            throw connection_cut_off().withSentence("the connection ended before the answer");
        if (error == value_too_large() && !hasAnswer)
            throw error.withSentence("the answer's head has more than `headBytes`");
        throw;
    }
}

Future<Bytes> ClientExchange::read(Reference<ClientExchange> self) {
    if (self->error_.isValid())
        throw self->error_;
    if (!self->connection_)
        co_return Bytes();
    try {
        double deadline = self->limits_.deadline, until = std::min(deadline, now() + self->limits_.idle);
        Future<Bytes> reading = self->received_->next();
        auto first = co_await race(reading, delayUntil(until));
        if (first.index() == 1)
            throw timed_out().withSentence(
                until < deadline
                    ? format("nothing of the answer's body has come for %g s (idleTimeout)", double(self->limits_.idle))
                    : "it took longer than `timeout`");
        Bytes piece = std::get<0>(std::move(first));
        if (self->received_->isAtEnd())
            self->end();
        co_return piece;
    } catch (Error& error) {
        if (error == actor_cancelled())
            throw;
        self->error_ = errorAbout(self->about_, self->sendError_.isValid() ? self->sendError_ : error);
        self->stop();
        throw self->error_;
    }
}

void ClientExchange::end() {
    trailers = received_->trailers;
    received_->detach();
    connection_ = {};
    bool isSent = !sending_.isValid() || (sending_.isReady() && !sendError_.isValid());
    if (isSent && framing_.keepsAlive && !isLast_)
        lease_.giveBack();
    else if (isSent)
        lease_.close();
    else
        stop();
}

/// Ends an incomplete exchange: the connection is reset.
void ClientExchange::stop() {
    sending_ = Future<Void>();
    ClientConnection::Lease ended = std::move(lease_);
}

} // namespace

Reference<ClientConnection> makeHttp1Client(Reference<Connection> connection) {
    return makeReference<Http1Client>(std::move(connection));
}

} // namespace flow::net::http::detail
