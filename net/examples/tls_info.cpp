// tls_info: prints the parameters of a TLS connection. It is a server, and a client for any server.
//
//     $ tools/certificates certificates
//     $ tls_info serve 4433 --cert certificates/server.pem --key certificates/server.key &
//     $ curl --cacert certificates/ca.pem https://localhost:4433/
//     $ tls_info get 127.0.0.1:4433 localhost / --ca certificates/ca.pem
//
// serve answers a GET of a number with that number of bytes, and any other GET with a few lines. --client-ca FILE: each
// client must show a certificate of that authority. On SIGHUP serve reads its files again; SIGTERM and SIGINT end serve
// cleanly. get asks for a path and prints the answer. --times N: get asks N times, each time on a new connection. If
// the server asks for a certificate, get shows --cert and --key. get prints the parameters on standard error.

#include "flow/base/parse_number.h"
#include "flow/flow.h"
#include "flow/wait/signals.h"
#include "net/serve.h"
#include "net/tls/tls_listener.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>

using namespace flow;
using namespace flow::net;

namespace {

constexpr char kUsage[] = "usage: tls_info serve PORT --cert FILE --key FILE [--client-ca FILE]\n"
                          "       tls_info get ADDRESS NAME PATH [--ca FILE] [--cert FILE --key FILE] [--times N]\n";
constexpr int kMostBytes = 100'000'000;
constexpr double kPatience = 10; // seconds for a request

struct Arguments {
    std::vector<std::string> words;
    std::string certificate, key, authorities;
    int times = 1;
};

std::optional<Arguments> parse(int argc, char** argv) {
    Arguments arguments;
    for (int i = 1; i < argc; ++i) {
        std::string word = argv[i];
        if (!word.starts_with("--")) {
            arguments.words.push_back(word);
            continue;
        }
        if (++i == argc)
            return {};
        if (word == "--times") {
            auto times = parseNumber<std::uint16_t>(argv[i]);
            if (!times)
                return {};
            arguments.times = *times;
            continue;
        }
        std::string* place = word == "--cert"                          ? &arguments.certificate
                             : word == "--key"                         ? &arguments.key
                             : word == "--ca" || word == "--client-ca" ? &arguments.authorities
                                                                       : nullptr;
        if (!place)
            return {};
        *place = argv[i];
    }
    return arguments;
}

std::string describe(TlsConnection const& connection) {
    auto line = [](char const* what, std::string const& value) { return std::string(what) + ": " + value + "\n"; };
    return line("version", connection.version()) + line("cipher", connection.cipher()) +
           line("protocol", connection.protocol()) + line("name", connection.serverName()) +
           line("peer", connection.peerSubject()) + line("resumed", connection.wasResumed() ? "yes" : "no");
}

std::string bodyFor(Bytes const& request, Connection& connection) {
    std::string text = request.toString();
    std::size_t begin = text.find('/'), end = text.find(' ', begin);
    auto size =
        begin == std::string::npos ? std::nullopt : parseNumber<std::uint32_t>(text.substr(begin + 1, end - begin - 1));
    return size ? std::string(std::min<std::size_t>(*size, kMostBytes), 'x') : describe(*TlsConnection::of(connection));
}

Future<Void> answer(Reference<Connection> connection) {
    auto first = co_await race(connection->readUntil("\r\n\r\n"_sr, 8192), delay(kPatience));
    if (first.index() == 1)
        co_return;
    std::string body = bodyFor(std::get<0>(first), *connection);
    std::string head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n";
    co_await connection->write(StringRef(head + body));
    co_await connection->flushed();
}

TlsServerOptions serverOptions(Arguments const& arguments) {
    TlsServerOptions options;
    options.identities = {{arguments.certificate, arguments.key}};
    options.clientAuthorities = arguments.authorities;
    options.protocols = {"http/1.1"};
    return options;
}

Future<Void> reloadOnHangUp(Reference<TlsListener> listener, Arguments arguments) {
    for (;;) {
        co_await signals({SIGHUP});
        try {
            listener->setContext(TlsContext::server(serverOptions(arguments)));
            std::fprintf(stderr, "tls_info: has read its files again\n");
        } catch (Error& error) { // the old certificates stay
            std::fprintf(stderr, "tls_info: %s\n", error.what());
        }
    }
}

Future<Void> serve(Arguments arguments, std::uint16_t port) {
    auto context = TlsContext::server(serverOptions(arguments));
    auto listener = makeReference<TlsListener>(transport().listen(Address(0x7F000001, port)), context);
    listener->onFailure([](Address const& client, Error error, std::string const& why) {
        std::fprintf(stderr, "tls_info: %s: %s: %s\n", client.toString().c_str(), error.name(), why.c_str());
    });
    Future<int> stop = keep(signals({SIGTERM, SIGINT}));
    Scope scope;
    scope.spawn(reloadOnHangUp(listener, arguments));
    std::printf("listening at %s\n", listener->localAddress().toString().c_str());
    std::fflush(stdout);
    co_await serveUntil(listener, answer, success(stop), 1.0);
}

Future<Void> get(Arguments arguments, Address at, std::string name, std::string path) {
    TlsClientOptions options;
    options.authorities = arguments.authorities;
    options.protocols = {"http/1.1"};
    if (!arguments.certificate.empty())
        options.identity = TlsIdentity{arguments.certificate, arguments.key};
    auto context = TlsContext::client(options);
    for (int i = 0; i < arguments.times; ++i) {
        Reference<TlsConnection> connection = co_await tlsConnect(at, name, context);
        std::fputs(describe(*connection).c_str(), stderr);
        std::string request = "GET " + path + " HTTP/1.0\r\nHost: " + name + "\r\n\r\n";
        co_await connection->write(StringRef(request));
        for (;;) {
            Bytes bytes = co_await connection->read();
            if (bytes.empty())
                break;
            std::fwrite(bytes.begin(), 1, static_cast<std::size_t>(bytes.size()), stdout);
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    std::optional<Arguments> arguments = parse(argc, argv);
    std::vector<std::string> const none;
    std::vector<std::string> const& words = arguments ? arguments->words : none;
    bool isServer = words.size() == 2 && words[0] == "serve";
    auto port = isServer ? parseNumber<std::uint16_t>(words[1]) : std::nullopt;
    if (!port && !(words.size() == 4 && words[0] == "get")) {
        std::fputs(kUsage, stderr);
        return 2;
    }
    try {
        RealLoop loop;
        if (isServer)
            loop.run(serve(*arguments, *port));
        else
            loop.run(get(*arguments, *Address::parse(words[1]), words[2], words[3]));
        return 0;
    } catch (Error& error) {
        std::fprintf(stderr, "tls_info: %s: %s\n", error.name(), error.what());
        return 1;
    }
}
