#include "net/http/detail/open_connection.h"

#include "flow/base/format.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/connect.h"
#include "net/http/detail/head.h"

namespace flow::net::http::detail {
namespace {

using Options = std::shared_ptr<ClientOptions const>;

Future<Encrypted> encryptIfSecure(Options options, Reference<Connection> carrier, Url url, bool mayBeHttp2) {
    Encrypted encrypted{std::move(carrier), ""};
    if (url.isSecure) {
        Future<Encrypted> encrypting = options->encrypt(encrypted.connection, url.host, mayBeHttp2);
        encrypted = co_await std::move(encrypting);
    }
    co_return encrypted;
}

/// Asks a proxy for a tunnel to the URL's host.
Future<Void> openTunnel(Options options, std::shared_ptr<Url const> proxy, Connection* connection, Url url) {
    std::string to = url.hostAndPort();
    Headers headers = {{"Host", to}};
    if (!options->proxyAuthorization.empty())
        headers.add("Proxy-Authorization", options->proxyAuthorization);
    Bytes request = StringRef("CONNECT " + to + " HTTP/1.1\r\n" + std::string(headers.text()) + "\r\n");
    (void)connection->write(std::move(request));
    Response response;
    do {
        Framing framing;
        Bytes head = co_await connection->readUntil("\r\n\r\n"_sr, static_cast<std::uint32_t>(options->headBytes));
        if (Refusal refusal = parseResponse(head, options->headFields, "CONNECT", response, framing))
            throw serialization_failed().withSentence(std::string("the proxy's answer is wrong: ") + refusal.reason);
    } while (response.status < 200 && response.status != 101);
    if (response.status < 200 || response.status >= 300)
        throw operation_failed().withSentence(
            format("the proxy %s has answered %d for the tunnel", proxy->origin().c_str(), response.status));
}

Future<Encrypted> open(Options options, std::shared_ptr<Url const> proxy, Url url, bool mayBeHttp2) {
    if (!options->encrypt && (url.isSecure || (proxy && proxy->isSecure)))
        throw unsupported_operation().withSentence("https needs ClientOptions::encrypt, such as tlsConnector()");
    std::string host = proxy ? proxy->host : url.host;
    std::uint16_t port = proxy ? proxy->port : url.port;
    ConnectOptions sockets;
    sockets.timeout = options->connectTimeout;
    Future<Reference<Connection>> connecting =
        options->connect ? options->connect(host, port) : net::connect(host, port, sockets);
    Reference<Connection> connection = co_await std::move(connecting);
    if (proxy) {
        Future<Encrypted> encrypting = encryptIfSecure(options, connection, *proxy, false);
        Encrypted encrypted = co_await std::move(encrypting);
        connection = encrypted.connection;
        Future<Void> tunnelling = openTunnel(options, proxy, connection.getPtr(), url);
        co_await std::move(tunnelling);
    }
    Future<Encrypted> encrypting = encryptIfSecure(options, connection, url, mayBeHttp2);
    Encrypted encrypted = co_await std::move(encrypting);
    co_return encrypted;
}

} // namespace

Future<Encrypted> openConnection(Options options, std::shared_ptr<Url const> proxy, Url url, bool mayBeHttp2) {
    Future<Encrypted> opening = open(options, std::move(proxy), std::move(url), mayBeHttp2);
    auto first = co_await race(opening, delay(options->connectTimeout));
    if (first.index() == 1)
        throw connection_timed_out().withSentence(
            format("no connection was made within %g s (connectTimeout)", double(options->connectTimeout)));
    co_return std::get<0>(std::move(first));
}

} // namespace flow::net::http::detail
