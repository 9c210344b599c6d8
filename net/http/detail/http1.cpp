// One coroutine serves a connection. It does the usual waits itself: for a request, its head, its place and its
// handler. Only rare waits are in other coroutines. So a request that needs no rare wait allocates no coroutine frame
// of the library. Its response is written to Service::scratch, which all connections share. The helper functions are
// not inlined: their variables would be in the coroutine's frame, which each idle connection keeps in memory.

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/http/detail/http2_server.h"
#include "net/http/detail/request_span.h"
#include "net/http/detail/response_head.h"
#include "net/http/detail/service.h"
#include "net/pool.h"

#include <algorithm>
#include <optional>

namespace flow::net::http::detail {
namespace {

struct Counted {
    explicit Counted(std::uint64_t& c) : count(c) { ++count; }
    Counted(Counted const&) = delete;
    Counted& operator=(Counted const&) = delete;
    ~Counted() { --count; }
    std::uint64_t& count;
};

/// Returns the target in a head that was parsed: "/jobs" in "GET /jobs HTTP/1.1".
std::string_view targetOf(std::string_view head) {
    std::size_t at = std::min(head.find(' '), head.size() - 1) + 1;
    return head.substr(at, head.find(' ', at) - at);
}

/// A running exchange. The destructor calls onEnd.
struct OpenExchange {
    OpenExchange(Service& s, Connection const& c) : service(s), connection(c), inFlight(s.counters.inFlight) {}
    OpenExchange(OpenExchange const&) = delete;
    OpenExchange& operator=(OpenExchange const&) = delete;
    ~OpenExchange() {
        if (!facts.context.isEmpty())
            endSpan(facts, method);
        if (!service.options.onEnd)
            return;
        Address peer = connection.peerAddress();
        facts.peer = &peer;
        facts.method = method;
        facts.target = target;
        facts.seconds = now() - begin;
        service.options.onEnd(facts);
    }
    /// Returns the facts for a report, with the target from the head: only onEnd needs a copy of it.
    Exchange const& factsWith(Bytes const& head) {
        facts.method = method;
        facts.target = targetOf(head.toStringView());
        return facts;
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

/// Reads the rest of a body. Returns false if the rest is wrong, or longer than kStep.
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

/// True if it is worth reading the rest of a body, to keep the connection.
bool isWorthReading(ReceivedBody const& body, Framing const& framing) {
    return !body.refusal() && !body.wasNeverAsked() &&
           (framing.kind == Framing::Kind::Chunked || framing.length - body.received() <= kStep);
}

struct Session {
    Session(Service& s, Reference<Connection> const& c, Event* e)
        : service(s), connection(c), ending(e), open(s.counters.open), tls(tlsFactsOf(*c)),
          left(s.options.requestsPerConnection) {
        ++s.counters.connections;
    }

    Service& service;
    Reference<Connection> const& connection;
    Event* const ending;
    Counted open;
    std::shared_ptr<TlsFacts const> const tls;
    double idleSince = now();
    std::uint32_t left; // requests that may follow; 0: the connection ends
};

struct Asked {
    std::optional<OpenExchange> exchange;
    Refusal refusal; // if set, the handler is not called
    Response response;
    Framing framing;
    Reference<ReceivedBody> body;
    ResponseHead sent;
    Error error; // of the handler; later of the response's body
    Future<Response> answering;
    Semaphore::Permit place;
};

/// Waits for a request that the client may have sent before it knew that the server ends. Returns false if none comes.
Future<bool> lastRequestComes(Reference<Connection> connection, double idleSince) {
    if (now() - idleSince > kLastSeconds)
        co_return false;
    auto first = co_await race(connection->readable(), delay(kLastSeconds));
    co_return first.index() == 0;
}

/// Reads a head that has not arrived completely, line by line, so that a wrong first line is refused at once. Returns
/// no bytes if the head is wrong or too late, and sets `refusal`, or if no byte has come in time, without a refusal.
Future<Bytes> readHeadByLines(Reference<Connection> connection, ServerOptions const* options, Refusal* refusal) {
    std::string head;
    double deadline = now() + double(options->headerTime);
    while (!head.ends_with("\r\n\r\n")) {
        if (head.size() >= options->headerBytes)
            throw value_too_large();
        ReadUntil line = connection->readUntil("\n"_sr, options->headerBytes - static_cast<std::uint32_t>(head.size()));
        auto first = co_await race(line, delayUntil(deadline));
        if (first.index() == 1) {
            if (!head.empty() || connection->bufferedBytes() != 0)
                *refusal = {408, "the head comes too slowly"};
            co_return Bytes();
        }
        std::string_view text = std::get<0>(first).toStringView();
        bool isFirst = head.empty() || head == "\r\n"; // empty lines may come before it
        head += text;
        if (!isFirst || text == "\r\n" || kHttp2Preface.starts_with(text))
            continue;
        *refusal = checkRequestLine(text);
        if (*refusal)
            co_return Bytes();
    }
    co_return Bytes(StringRef(head));
}

/// Returns the refusal for an error of reading a head; rethrows an error of the connection.
Refusal refusalOfHead(Error const& error) {
    if (error != value_too_large())
        throw error;
    return {431, "the head is too long"};
}

/// Parses the head, and calls the handler unless the request is refused.
[[gnu::noinline]] void begin(Session& session, Bytes const& head, Semaphore::Permit place, Asked& asked) {
    Service& service = session.service;
    asked.place = std::move(place);
    Request request;
    asked.refusal = parseRequest(head, service.options.headerCount, request, asked.framing);
    if (!asked.refusal && asked.framing.length > service.options.bodyBytes)
        asked.refusal = {413, "the body is too long"};
    asked.exchange->note(request);
    if (asked.refusal)
        return;
    ++service.counters.requests;
    request.peer = session.connection->peerAddress();
    request.tls = session.tls;
    request.exchange = &asked.exchange->facts;
    if (asked.framing.kind != Framing::Kind::None) {
        asked.body = makeReference<ReceivedBody>(session.connection, asked.framing, service.bodyLimits());
        if (asked.framing.expectsContinue)
            asked.body->sendFirst("HTTP/1.1 100 Continue\r\n\r\n");
        request.body = Body::from(asked.body, asked.framing.size());
    }
    asked.answering = service.call(std::move(request), session.ending, asked.framing.trace);
}

/// True if the client has sent no more bytes. Throws if the connection has ended.
bool isStillQuiet(Connection& connection) {
    if (isQuiet(connection))
        return true;
    Error gone = connection.failure();
    if (gone.isValid())
        throw gone;
    return false;
}

/// Makes the response for a refusal or an error of the handler, and releases the place.
[[gnu::noinline]] void settle(Session& session, Asked& asked, Bytes const& head) {
    Service& service = session.service;
    if (asked.refusal) {
        ++service.counters.refused;
        asked.framing.keepsAlive = false;
        asked.response = refusalOf(asked.refusal);
    } else if (asked.error.isValid()) {
        if (session.connection->failure().isValid() && isConnectionError(asked.error))
            throw asked.error;
        asked.response = service.failed(asked.error, asked.body.getPtr(), asked.exchange->factsWith(head));
        asked.framing.keepsAlive = asked.framing.keepsAlive && !(asked.body && asked.body->refusal());
        asked.error = Error();
    }
    asked.place = Semaphore::Permit();
    asked.answering = Future<Response>();
}

/// Writes the head of the response to `out`. Replaces an invalid response by a 500.
void writeHead(Session& session, Asked& asked, Bytes const& head, std::string& out) {
    bool isUnread = asked.body && !asked.body->isAtEnd();
    bool closes = !asked.framing.keepsAlive || session.ending->isSet() || --session.left == 0 ||
                  (isUnread && !isWorthReading(*asked.body, asked.framing));
    OpenExchange& exchange = *asked.exchange;
    out.clear();
    asked.sent =
        writeResponseHead(out, asked.response, exchange.method, exchange.facts.version, closes, session.service.date());
    if (!asked.sent.mistake)
        return;
    reportFailed(invalid_option_value().withSentence(std::string("the response cannot be sent: ") + asked.sent.mistake),
                 exchange.factsWith(head));
    asked.response = refusalOf({500, "the server has failed to answer"});
    out.clear();
    asked.sent =
        writeResponseHead(out, asked.response, exchange.method, exchange.facts.version, true, session.service.date());
}

/// Sends the response. Returns an invalid future if all bytes were written at once.
[[gnu::noinline]] Future<Void> send(Session& session, Asked& asked, Bytes const& head) {
    Connection* connection = session.connection.getPtr();
    Seconds seconds = session.service.options.writeTime;
    std::string& out = session.service.scratch;
    writeHead(session, asked, head, out);
    Response& response = asked.response;
    Exchange& facts = asked.exchange->facts;
    facts.status = response.status;
    if (asked.sent.hasBody && response.body.source())
        return sendBody(connection, out, &response.body, asked.sent.framed, &response.trailers, seconds, &facts.sent,
                        &asked.error);
    Bytes bytes = asked.sent.hasBody ? response.body.takeBytes() : Bytes();
    StringRef pieces[] = {StringRef(out), bytes.substr(0, kStep)};
    auto taken = static_cast<int>(connection->tryWrite(pieces));
    facts.sent = static_cast<std::uint64_t>(bytes.size());
    int ofHead = std::min(taken, pieces[0].size());
    if (taken == pieces[0].size() + bytes.size())
        return {};
    Bytes restOfHead = pieces[0].substr(ofHead);
    Bytes rest(bytes.substr(taken - ofHead), bytes.arena());
    return sendBytes(connection, std::move(restOfHead), std::move(rest), seconds);
}

/// Does nothing if the response was sent. Throws the error of the sending if the connection has failed or the client
/// has caused the error. If the response's body has failed, reports that with the request, and throws an error that
/// serveUntil() does not report.
void checkSent(Asked& asked, Bytes const& head, ErrorOr<Void> const& sent) {
    if (!sent.isError()) [[likely]]
        return;
    Error error = asked.error;
    if (!error.isValid() || isConnectionError(error) || error == actor_cancelled())
        throw sent.getError();
    if (error != value_too_large() && !(asked.body && asked.body->refusal()))
        reportFailed(error, asked.exchange->factsWith(head), kBodyOfResponse);
    throw operation_obsolete().withSentence("the body of a response has failed");
}

/// Reads the rest of the body. Ends the connection if the rest is too long or wrong.
Future<Void> skipOrEnd(Session* session, Reference<ReceivedBody> body) {
    Future<bool> skipping = skipRest(body);
    bool isSkipped = co_await std::move(skipping);
    body->detach();
    if (isSkipped)
        co_return;
    session->left = 0;
    Future<Void> lingering = linger(session->connection);
    co_await std::move(lingering);
}

/// Upgrades or ends the connection, or skips to the next request. Returns an invalid future if that needs no wait.
[[gnu::noinline]] Future<Void> follow(Session& session, Asked& asked) {
    if (asked.body)
        asked.exchange->facts.received = asked.body->received();
    asked.exchange.reset();
    if (asked.response.upgrade) {
        session.left = 0;
        Future<Void> upgraded = asked.response.upgrade(session.connection, session.ending);
        FLOW_ASSERT(upgraded.isValid(), "http::serve(): an upgrade gave an invalid future");
        return upgraded;
    }
    if (asked.body && !asked.sent.closes && !asked.body->isAtEnd())
        return skipOrEnd(&session, asked.body);
    if (asked.body)
        asked.body->detach();
    if (!asked.sent.closes)
        return {};
    session.left = 0;
    return linger(session.connection);
}

} // namespace

Future<Void> linger(Reference<Connection> connection) {
    connection->shutdownWrite();
    double deadline = now() + kLastSeconds;
    for (;;) {
        auto first = co_await race(connection->read(kStep), delayUntil(deadline));
        if (first.index() == 1 || std::get<0>(first).empty())
            co_return;
    }
}

Future<Void> serveHttp1(Service* service, Reference<Connection> connection, Event* ending) {
    Session session(*service, connection, ending);
    if (session.tls && session.tls->protocol == "h2") {
        Future<Void> serving = serveHttp2(service, connection, Bytes(), ending);
        co_return co_await std::move(serving);
    }
    while (session.left != 0) {
        if (connection->bufferedBytes() == 0 && !ending->isSet()) {
            auto first = co_await race(connection->readable(), delay(service->options.idle), ending->wait());
            if (first.index() == 1)
                co_return;
        }
        if (ending->isSet() && isQuiet(*connection)) {
            Future<bool> coming = lastRequestComes(connection, session.idleSince);
            bool comes = co_await std::move(coming);
            if (!comes)
                co_return;
        }
        Bytes head;
        Asked asked;
        try {
            ReadUntil reading = connection->readUntil("\r\n\r\n"_sr, service->options.headerBytes);
            if (reading.isReady()) {
                head = co_await reading;
            } else {
                Future<Bytes> coming = readHeadByLines(connection, &service->options, &asked.refusal);
                head = co_await std::move(coming);
                if (head.empty() && !asked.refusal)
                    continue; // no byte has come
            }
        } catch (Error& error) {
            asked.refusal = refusalOfHead(error);
        }
        if (head == kHttp2Preface && session.left == service->options.requestsPerConnection) {
            Future<Void> serving = serveHttp2(service, connection, std::move(head), ending);
            co_return co_await std::move(serving);
        }
        asked.exchange.emplace(*service, *connection);
        if (!asked.refusal) {
            Semaphore::Permit place = co_await service->places.permit();
            begin(session, head, std::move(place), asked);
        }
        for (bool isWatched = !asked.body; !asked.refusal;) {
            try {
                if (!isWatched || asked.answering.isReady()) {
                    asked.response = co_await std::move(asked.answering);
                    break;
                }
                auto first = co_await race(asked.answering, connection->readable());
                if (first.index() == 0) {
                    asked.response = std::get<0>(std::move(first));
                    break;
                }
            } catch (...) {
                asked.error = errorOfHandler();
                break;
            }
            isWatched = isStillQuiet(*connection);
        }
        settle(session, asked, head);
        if (Future<Void> sending = send(session, asked, head); sending.isValid()) {
            ErrorOr<Void> sent = co_await coro::outcome(std::move(sending));
            checkSent(asked, head, sent);
        }
        if (Future<Void> following = follow(session, asked); following.isValid())
            co_await std::move(following);
        session.idleSince = now();
    }
}

} // namespace flow::net::http::detail
