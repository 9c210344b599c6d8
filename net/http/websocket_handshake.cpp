// The handshakes of WebSocket, for servers and clients.

#include "flow/base/random.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "net/http/client.h"
#include "net/http/detail/head.h"
#include "net/http/detail/syntax.h"
#include "net/http/detail/websocket_frame.h"
#include "net/http/detail/websocket_key.h"
#include "net/http/websocket.h"

#include <algorithm>
#include <random>

namespace flow::net::http {
namespace {

constexpr std::uint32_t kLargestAnswer = 16 * 1024;
constexpr std::size_t kMostAnswerFields = 100;

Response refuseWebSocket(int status, std::string const& why) {
    Response response;
    response.status = status;
    response.body = why + "\n";
    response.headers.add("Content-Type", "text/plain");
    if (status == 426) {
        response.headers.add("Upgrade", "websocket");
        response.headers.add("Sec-WebSocket-Version", "13");
    }
    return response;
}

Future<Void> beginHandler(WebSocketHandler const& handler, Reference<WebSocket> socket) {
    try {
        return handler(std::move(socket));
    } catch (...) {
        return currentError();
    }
}

Future<Void> serveWebSocket(Reference<WebSocket> socket, WebSocketHandler handler, Event* ending) {
    Error error;
    {
        Future<Void> handling = beginHandler(handler, socket);
        try {
            auto first = co_await race(handling, ending->wait());
            if (first.index() == 1) {
                socket->close(websocket::kGoingAway);
                co_await handling;
            }
        } catch (...) {
            error = currentError();
            if (error == actor_cancelled())
                throw;
        }
    }
    bool isWell = !error.isValid() || error == end_of_stream() || error == socket->failure();
    co_await socket->close(isWell ? websocket::kNormal : websocket::kInternalError);
    if (!isWell)
        throw error;
}

Future<Void> takeOver(Reference<Connection> connection, WebSocketHandler handler, WebSocketOptions options,
                      std::string protocol, Event* ending) {
    auto socket = makeReference<WebSocket>(std::move(connection), WebSocket::Side::Server, std::move(options),
                                           std::move(protocol));
    return serveWebSocket(std::move(socket), std::move(handler), ending);
}

std::string randomKey() {
    std::string bytes;
    std::random_device device; // nondeterminism: not in simulations
    for (int i = 0; i < 16; ++i)
        bytes += static_cast<char>(Loop::current().isSimulated() ? deterministicRandom()->randomUInt32() : device());
    return websocket::base64(bytes);
}

/// Returns the subprotocol that the server has chosen. Throws if the answer is wrong.
std::string checkAnswer(Bytes const& head, std::string const& key, std::vector<std::string> const& protocols) {
    Response answer;
    detail::Framing framing;
    auto check = [](bool isValid, Error error, std::string const& what) {
        if (!isValid)
            throw error.withSentence("WebSocket: the server's answer has " + what);
    };
    detail::Refusal refusal = detail::parseResponse(head, kMostAnswerFields, "GET", answer, framing);
    check(!refusal, serialization_failed(), std::string("a wrong head: ") + refusal.reason);
    check(answer.status == 101, operation_failed(), "the status " + std::to_string(answer.status));
    check(detail::isSameName(answer.headers.get("Upgrade"), "websocket"), serialization_failed(), "another Upgrade");
    check(answer.headers.hasToken("Connection", "upgrade"), serialization_failed(), "no \"Connection: Upgrade\"");
    check(answer.headers.get("Sec-WebSocket-Accept") == websocket::acceptFor(key), serialization_failed(),
          "another Sec-WebSocket-Accept than the key asks for");
    check(!answer.headers.has("Sec-WebSocket-Extensions"), serialization_failed(), "an extension");
    std::string protocol(answer.headers.get("Sec-WebSocket-Protocol"));
    check(protocol.empty() || std::find(protocols.begin(), protocols.end(), protocol) != protocols.end(),
          serialization_failed(), "a subprotocol that was not offered");
    return protocol;
}

} // namespace

Response acceptWebSocket(Request const& request, WebSocketHandler handler, WebSocketOptions options) {
    Headers const& headers = request.headers;
    if (!headers.hasToken("Upgrade", "websocket") || !headers.hasToken("Connection", "upgrade"))
        return refuseWebSocket(426, "This address speaks WebSocket only.");
    if (headers.get("Sec-WebSocket-Version") != "13")
        return refuseWebSocket(426, "The version of WebSocket must be 13.");
    if (request.method != "GET" || request.version != Version::Http11)
        return refuseWebSocket(400, "A WebSocket is asked for by GET and HTTP/1.1.");
    std::string_view key = headers.get("Sec-WebSocket-Key");
    if (!websocket::isKey(key))
        return refuseWebSocket(400, "The Sec-WebSocket-Key is not 16 bytes in base64.");
    Response response;
    response.status = 101;
    response.headers.add("Upgrade", "websocket");
    response.headers.add("Connection", "Upgrade");
    response.headers.add("Sec-WebSocket-Accept", websocket::acceptFor(key));
    std::string protocol;
    for (std::string const& each : options.protocols)
        if (protocol.empty() && headers.hasToken("Sec-WebSocket-Protocol", each))
            protocol = each;
    if (!protocol.empty())
        response.headers.add("Sec-WebSocket-Protocol", protocol);
    response.upgrade = [handler = std::move(handler), options = std::move(options),
                        protocol](Reference<Connection> connection, Event* ending) {
        return takeOver(std::move(connection), handler, options, protocol, ending);
    };
    return response;
}

Future<Reference<WebSocket>> connectWebSocket(Reference<Connection> connection, std::string host, std::string target,
                                              WebSocketOptions options, Headers headers) {
    if (!target.starts_with('/') || !detail::isAllOf(detail::kTargetChar, target))
        throw invalid_option_value().withSentence("connectWebSocket(): the target must be a path without blanks, such "
                                                  "as \"/chat?room=7\"; others are percent-encoded");
    std::string key = randomKey(), protocols;
    for (std::string const& each : options.protocols)
        protocols += (protocols.empty() ? "" : ", ") + each;
    headers.set("Host", host);
    headers.set("Upgrade", "websocket");
    headers.set("Connection", "Upgrade");
    headers.set("Sec-WebSocket-Key", key);
    headers.set("Sec-WebSocket-Version", "13");
    if (!protocols.empty())
        headers.set("Sec-WebSocket-Protocol", protocols);
    std::string request = "GET " + target + " HTTP/1.1\r\n" + std::string(headers.text()) + "\r\n";
    co_await connection->write(StringRef(request));
    Bytes head = co_await connection->readUntil("\r\n\r\n"_sr, kLargestAnswer);
    std::string protocol = checkAnswer(head, key, options.protocols);
    co_return makeReference<WebSocket>(std::move(connection), WebSocket::Side::Client, std::move(options),
                                       std::move(protocol));
}

Future<Reference<WebSocket>> connectWebSocket(Client& client, std::string url, WebSocketOptions options,
                                              Headers headers) {
    if (url.starts_with("ws"))
        url.replace(0, 2, "http");
    Url parsed = Url::parse(url);
    Reference<Connection> connection = co_await client.connect(std::move(url));
    Future<Reference<WebSocket>> shaking = connectWebSocket(std::move(connection), parsed.authority(), parsed.target,
                                                            std::move(options), std::move(headers));
    co_return co_await std::move(shaking);
}

} // namespace flow::net::http
