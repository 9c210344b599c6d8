// http_server DIRECTORY PORT [--idle SECONDS] [--traces URL] [--takeover PATH] [--cert FILE --key FILE]: serves the
// files of a directory by HTTP/1.1; with a certificate, by HTTPS. --takeover takes the listener over from the
// http_server that serves with the same PATH. That process then ends, and no client is refused (net/docs/restart.md).
// --traces sends a span of each request to the collector of OpenTelemetry at the URL, such as
// http://127.0.0.1:4318/v1/traces. SIGTERM and SIGINT end the program cleanly. SECONDS is the time for a client to send
// the next request, its head, and each part of its body, and to read each part of an answer. If systemd has started the
// program with a socket, the program serves that socket. It notifies systemd when it is ready (net/docs/systemd.md).
//
//     $ http_server . 8080 &
//     $ curl --range 0-9 http://127.0.0.1:8080/README.md
//
//     $ tools/certificates certificates
//     $ http_server . 8443 --cert certificates/server.pem --key certificates/server.key &
//     $ curl --cacert certificates/ca.pem https://localhost:8443/README.md

#include "net/examples/http_server.h"

#include "net/examples/secure.h"
#include "net/examples/take_over.h"
#include "net/http/span_exporter.h"

#include <optional>

using namespace flow;
using namespace flow::net;

namespace {

Future<Void> serveInTraces(std::string collector, Reference<Listener> listener, http::StaticFiles files,
                           http::ServerOptions options, Future<Void> stop) {
    http::SpanExporter exporter({.url = collector, .service = "http_server"});
    trace::Tracer tracer(exporter);
    options.tracer = &tracer;
    Future<Void> serving = serveSite(listener, files, options, stop);
    co_await std::move(serving);
    co_await exporter.flush(5.0);
}

using Serve = std::function<Future<Void>(Reference<Listener>, Future<Void> stop)>;

Future<Void> serveInTurn(Address at, Address path, Serve serve, Future<Void> stop) {
    Sockets sockets = co_await takeSockets(at, path);
    std::printf("%s %s\n", sockets.before ? "takes over at" : "listening at",
                sockets.http->localAddress().toString().c_str());
    std::fflush(stdout);
    Future<Void> serving = serve(sockets.http, stop || replaced(sockets)); // accepts from here on
    if (sockets.before)
        co_await sockets.before->write("+"_sr); // the other process may end
    co_await std::move(serving);
}

Future<Void> run(Arguments arguments) {
    Options options = takeOptions(arguments, 2, {"--idle", "--traces", "--takeover", "--cert", "--key"});
    http::ServerOptions limits;
    limits.grace = options.contains("--takeover") ? 10 : 1; // then another process serves
    if (auto idle = options.find("--idle"); idle != options.end()) {
        auto seconds = parseNumber<double>(idle->second);
        if (!seconds || !(*seconds > 0 && *seconds < 1e6))
            throw WrongArgument{"--idle needs a number of seconds"};
        limits.idle = limits.headerTime = limits.bodyTime = limits.writeTime = *seconds;
    }
    std::optional<http::StaticFiles> files;
    try {
        files.emplace(arguments[0]);
    } catch (Error& error) {
        throw WrongArgument{error.what()};
    }
    Future<Void> stop = endOfProgram();
    Wrap encrypt = secure(options, {"http/1.1"});
    Serve serve = [=](Reference<Listener> plain, Future<Void> end) {
        Reference<Listener> listener = encrypt ? encrypt(plain) : plain;
        auto collector = options.find("--traces");
        return collector == options.end() ? serveSite(listener, *files, limits, end)
                                          : serveInTraces(collector->second, listener, *files, limits, end);
    };
    auto path = options.find("--takeover");
    if (path == options.end())
        return serve(listenAt(arguments[1]), stop);
    return serveInTurn(addressOf(arguments[1]), Address::unixPath(path->second), serve, stop);
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv,
                      "DIRECTORY PORT [--idle SECONDS] [--traces URL] [--takeover PATH] [--cert FILE --key FILE]", 2,
                      12, run);
}
