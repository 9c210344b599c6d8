// http_server DIRECTORY PORT [--idle SECONDS]: serves the files of a directory by HTTP/1.1. Ends cleanly on SIGTERM and
// SIGINT. A client must send a whole request within SECONDS (default 15), and read a part of the answer within that
// time.
//
//     $ http_server . 8080 &
//     $ curl --range 0-9 http://127.0.0.1:8080/README.md

#include "net/examples/http_server.h"

#include "net/examples/program.h"

#include <cstdlib>

using namespace flow;
using namespace flow::net;

namespace {

Future<Void> run(Arguments const& arguments) {
    HttpLimits limits;
    if (arguments.size() > 2) {
        char* end = nullptr;
        limits.idle = arguments.size() == 4 ? std::strtod(arguments[3].c_str(), &end) : 0;
        if (arguments[2] != "--idle" || !end || *end || !(limits.idle > 0 && limits.idle < 1e6))
            throw WrongArgument{"what comes behind DIRECTORY and PORT is --idle and a number of seconds"};
    }
    auto site = std::make_shared<Site const>(arguments[0]);
    return serve(arguments[1],
                 [=](Reference<Connection> client) { return serveHttp(site, limits, std::move(client)); });
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, "DIRECTORY PORT [--idle SECONDS]", 2, 4, run);
}
