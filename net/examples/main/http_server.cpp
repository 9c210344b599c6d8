// http_server DIRECTORY PORT [--idle SECONDS] [--cert FILE --key FILE]: serves the files of a directory by HTTP/1.1;
// with a certificate, by HTTPS. SIGTERM and SIGINT end the program cleanly. SECONDS is the time for a client to send
// the next request, its head, and each part of its body, and to read each part of an answer.
//
//     $ http_server . 8080 &
//     $ curl --range 0-9 http://127.0.0.1:8080/README.md
//
//     $ tools/certificates certificates
//     $ http_server . 8443 --cert certificates/server.pem --key certificates/server.key &
//     $ curl --cacert certificates/ca.pem https://localhost:8443/README.md

#include "net/examples/http_server.h"

#include "net/examples/secure.h"

#include <optional>

using namespace flow;
using namespace flow::net;

namespace {

Future<Void> run(Arguments arguments) {
    Options options = takeOptions(arguments, 2, {"--idle", "--cert", "--key"});
    http::ServerOptions limits;
    limits.grace = 1;
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
    return serveSite(listenAt(arguments[1], secure(options, {"http/1.1"})), *files, limits, stop);
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, "DIRECTORY PORT [--idle SECONDS] [--cert FILE --key FILE]", 2, 8, run);
}
