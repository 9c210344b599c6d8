// One coroutine serves a connection: a request whose handler and client do not wait costs no frame beside that of the
// handler, and its response is sent from the text that all connections share.

#include "flow/base/detail/dropped_error.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/http/detail/http2_server.h"
#include "net/http/detail/response_head.h"
#include "net/http/detail/service.h"
#include "net/pool.h"

#include <algorithm>
#include <optional>

namespace flow::net::http::detail {
namespace {

/// While the server ends, an idle client may send one more request for so many seconds; a client that is refused has so
/// many seconds to read why.
constexpr double kLastSeconds = 1;

/// Counts an object in a counter of what is there now.
struct Counted {
    explicit Counted(std::uint64_t& c) : count(c) { ++count; }
    Counted(Counted const&) = delete;
    Counted& operator=(Counted const&) = delete;
    ~Counted() { --count; }
    std::uint64_t& count;
};

/// An exchange that is under way; tells the observer of its end.
struct OpenExchange {
    OpenExchange(Service& s, Connection const& c) : service(s), connection(c), inFlight(s.counters.inFlight) {}
    OpenExchange(OpenExchange const&) = delete;
    OpenExchange& operator=(OpenExchange const&) = delete;
    ~OpenExchange() {
        if (!service.options.onEnd)
            return;
        Address peer = connection.peerAddress();
        facts.peer = &peer;
        facts.method = method;
        facts.target = target;
        facts.seconds = now() - begin;
        service.options.onEnd(facts);
    }
    void note(Request const& request) {
        method = request.method;
        facts.version = request.version;
        if (service.options.onEnd)
            target = request.target;
    }

    Service& service;
    Connection const& connection;
    Counted inFlight;
    double begin = now();
    Exchange facts;
    std::string method, target;
};

/// Ends the writing, and drops what still comes: with unread bytes, closing would reset the connection, and the
/// response might be lost.
Future<Void> linger(Reference<Connection> connection) {
    connection->shutdownWrite();
    double deadline = now() + kLastSeconds;
    for (;;) {
        auto first = co_await race(connection->read(kStep), delayUntil(deadline));
        if (first.index() == 1 || std::get<0>(first).empty())
            co_return;
    }
}

/// Reads what a handler has left of a body. Returns false if it is more than a step, or wrong.
Future<bool> skipRest(Reference<ReceivedBody> body) {
    for (std::uint64_t end = body->received() + kStep; body->received() <= end;) {
        ErrorOr<Bytes> piece = co_await tryGet(body->next());
        if (piece.isError())
            co_return false;
        if (piece.get().empty())
            co_return true;
    }
    co_return false;
}

/// True if the rest of a body may be read for nothing, to keep the connection.
bool isWorthReading(ReceivedBody const& body, Framing const& framing) {
    return !body.refusal() && !body.wasNeverAsked() &&
           (framing.kind == Framing::Kind::Chunked || framing.length - body.received() <= kStep);
}

/// A request that the handler has got, or that is refused.
struct Begun {
    Refusal refusal;
    Framing framing;
    Reference<ReceivedBody> body;
    Future<Response> answering;
};

/// No part of the coroutine: a Request in the coroutine's frame would be memory of each idle connection.
Begun begin(Service& service, Reference<Connection> const& connection, Bytes const& head,
            std::shared_ptr<TlsFacts const> const& tls, OpenExchange& exchange, Event* ending) {
    Begun begun;
    Request request;
    begun.refusal = parseRequest(head, service.options.headerCount, request, begun.framing);
    if (!begun.refusal && begun.framing.length > service.options.bodyBytes)
        begun.refusal = {413, "the body is too long"};
    exchange.note(request);
    if (begun.refusal)
        return begun;
    ++service.counters.requests;
    request.peer = connection->peerAddress();
    request.tls = tls;
    request.exchange = &exchange.facts;
    if (begun.framing.kind != Framing::Kind::None) {
        begun.body = makeReference<ReceivedBody>(connection, begun.framing, service.bodyLimits());
        if (begun.framing.expectsContinue)
            begun.body->sendFirst("HTTP/1.1 100 Continue\r\n\r\n");
        request.body = Body::from(begun.body, begun.framing.size());
    }
    begun.answering = service.call(std::move(request), ending);
    return begun;
}

} // namespace

Future<Void> serveHttp1(Service* service, Reference<Connection> connection, Event* ending) {
    ServerOptions const& options = service->options;
    Counted open(service->counters.open);
    ++service->counters.connections;
    std::shared_ptr<TlsFacts const> const tls = tlsFactsOf(*connection);
    double idleSince = now();
    for (std::uint32_t left = options.requestsPerConnection; left != 0;) {
        if (connection->bufferedBytes() == 0 && !ending->isSet()) {
            auto first = co_await race(connection->readable(), delay(options.idle), ending->wait());
            if (first.index() == 1)
                co_return;
        }
        if (ending->isSet() && isQuiet(*connection)) {
            if (now() - idleSince > kLastSeconds)
                co_return;
            auto first = co_await race(connection->readable(), delay(kLastSeconds));
            if (first.index() == 1)
                co_return;
        }

        Bytes head;
        Refusal refusal;
        try {
            ReadUntil reading = connection->readUntil("\r\n\r\n"_sr, options.headerBytes);
            auto first = co_await race(reading, delay(options.headerTime));
            if (first.index() == 0)
                head = std::get<0>(std::move(first));
            else if (connection->bufferedBytes() == 0)
                continue; // readable() was wrong: nothing had come
            else
                refusal = {408, "the head comes too slowly"};
        } catch (Error& error) {
            if (error != value_too_large())
                throw;
            refusal = {431, "the head is too long"};
        }

        if (head == kHttp2Preface && left == options.requestsPerConnection) {
            Future<Void> serving = serveHttp2(service, connection, std::move(head), ending);
            co_await std::move(serving);
            co_return;
        }
        std::optional<OpenExchange> exchange(std::in_place, *service, *connection);
        Response response;
        Framing framing;
        Reference<ReceivedBody> body;
        {
            Future<Response> answering;
            Semaphore::Permit place;
            if (!refusal) {
                Semaphore::Permit got = co_await service->places.permit();
                place = std::move(got);
                Begun begun = begin(*service, connection, head, tls, *exchange, ending);
                refusal = begun.refusal;
                framing = begun.framing;
                body = std::move(begun.body);
                answering = std::move(begun.answering);
            }
            if (refusal) {
                ++service->counters.refused;
                framing.keepsAlive = false;
                response = refusalOf(refusal);
            } else {
                bool isWatched = !body;
                Error gone, error;
                for (;;) {
                    try {
                        if (!isWatched || answering.isReady()) {
                            response = co_await std::move(answering);
                            break;
                        }
                        auto first = co_await race(answering, connection->readable());
                        if (first.index() == 0) {
                            response = std::get<0>(std::move(first));
                            break;
                        }
                    } catch (Error& thrown) {
                        if (thrown == actor_cancelled())
                            throw;
                        error = thrown;
                        break;
                    } catch (...) {
                        error = currentError();
                        break;
                    }
                    isWatched = isQuiet(*connection);
                    gone = isWatched ? Error() : connection->failure();
                    if (gone.isValid())
                        throw gone; // drops the handler's future
                }
                if (error.isValid()) {
                    gone = connection->failure();
                    if (gone.isValid() && isConnectionError(error))
                        throw error;
                    response = service->failed(error, body.getPtr());
                    framing.keepsAlive = framing.keepsAlive && !(body && body->refusal());
                }
            }
        }

        bool isUnread = body && !body->isAtEnd();
        bool closes =
            !framing.keepsAlive || ending->isSet() || --left == 0 || (isUnread && !isWorthReading(*body, framing));
        std::string& out = service->scratch;
        out.clear();
        ResponseHead sent =
            writeResponseHead(out, response, exchange->method, exchange->facts.version, closes, service->date());
        if (sent.mistake) {
            reportDroppedBy(
                "a handler of http::serve()",
                invalid_option_value().withSentence(std::string("the response cannot be sent: ") + sent.mistake));
            response = refusalOf({500, "the server has failed to answer"});
            out.clear();
            sent = writeResponseHead(out, response, exchange->method, exchange->facts.version, true, service->date());
        }
        exchange->facts.status = response.status;
        if (!sent.hasBody || !response.body.source()) {
            Bytes bytes = sent.hasBody ? response.body.takeBytes() : Bytes();
            StringRef pieces[] = {StringRef(out), bytes.substr(0, kStep)};
            auto taken = static_cast<int>(connection->tryWrite(pieces));
            exchange->facts.sent = static_cast<std::uint64_t>(bytes.size());
            int ofHead = std::min(taken, pieces[0].size());
            if (taken != pieces[0].size() + bytes.size()) {
                Bytes restOfHead = pieces[0].substr(ofHead);
                Bytes rest(bytes.substr(taken - ofHead), bytes.arena());
                Future<Void> sending =
                    sendBytes(connection.getPtr(), std::move(restOfHead), std::move(rest), options.writeTime);
                co_await std::move(sending);
            }
        } else {
            Future<Void> sending = sendBody(connection.getPtr(), out, &response.body, sent.framed, &response.trailers,
                                            options.writeTime, &exchange->facts.sent);
            co_await std::move(sending);
        }
        if (body)
            exchange->facts.received = body->received();
        exchange.reset();
        if (response.upgrade) {
            Upgrade upgrade = std::move(response.upgrade);
            Future<Void> upgraded = upgrade(connection, ending);
            co_await std::move(upgraded);
            co_return;
        }
        if (body) {
            bool isSkipped = true;
            if (!sent.closes && !body->isAtEnd()) {
                Future<bool> skipping = skipRest(body);
                isSkipped = co_await std::move(skipping);
            }
            sent.closes = sent.closes || !isSkipped;
            body->detach();
        }
        if (sent.closes) {
            Future<Void> lingering = linger(connection);
            co_await std::move(lingering);
            co_return;
        }
        idleSince = now();
    }
}

} // namespace flow::net::http::detail
