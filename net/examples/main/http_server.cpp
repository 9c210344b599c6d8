// http_server DIRECTORY PORT [--idle SECONDS] [--cert FILE --key FILE]: serves the files of a directory by HTTP/1.1;
// with a certificate, by HTTPS. SIGTERM and SIGINT end the program cleanly. A client has SECONDS (default 15) to send a
// whole request, and SECONDS to read each part of an answer.
//
//     $ http_server . 8080 &
//     $ curl --range 0-9 http://127.0.0.1:8080/README.md
//
//     $ tools/certificates certificates
//     $ http_server . 8443 --cert certificates/server.pem --key certificates/server.key &
//     $ curl --cacert certificates/ca.pem https://localhost:8443/README.md

#include "net/examples/http_server.h"

#include "net/examples/secure.h"

#include <cstdlib>

using namespace flow;
using namespace flow::net;

namespace {

Future<Void> run(Arguments arguments) {
    Options options = takeOptions(arguments, 2, {"--idle", "--cert", "--key"});
    HttpLimits limits;
    if (auto idle = options.find("--idle"); idle != options.end()) {
        char* end = nullptr;
        limits.idle = std::strtod(idle->second.c_str(), &end);
        if (*end || !(limits.idle > 0 && limits.idle < 1e6))
            throw WrongArgument{"--idle needs a number of seconds"};
    }
    std::shared_ptr<Site const> site;
    try {
        site = std::make_shared<Site const>(arguments[0]);
    } catch (Error&) {
        throw WrongArgument{"there is no such directory, or it cannot be read: " + arguments[0]};
    }
    return serve(
        arguments[1],
        [=](Reference<Connection> client, Event* ending) { return serveHttp(site, limits, std::move(client), ending); },
        secure(options, {"http/1.1"}));
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, "DIRECTORY PORT [--idle SECONDS] [--cert FILE --key FILE]", 2, 8, run);
}
