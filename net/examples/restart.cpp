// restart PORT PATH NAME: answers each HTTP request with NAME. A second process with the same PATH takes the listener
// over from the first one. Then the first process ends, and no client is refused. net/docs/restart.md explains this.
//
//     $ restart 8080 restart.socket one &
//     $ curl http://127.0.0.1:8080/
//     $ restart 8080 restart.socket two &

#include "net/examples/program.h"
#include "net/examples/take_over.h"
#include "net/http/server.h"

using namespace flow;
using namespace flow::net;

namespace {

Future<Void> run(Address at, Address path, std::string name) {
    Sockets sockets = co_await takeSockets(at, path);
    std::printf("%s: %s at %s\n", name.c_str(), sockets.before ? "takes over" : "listens",
                sockets.http->localAddress().toString().c_str());
    std::fflush(stdout);
    auto answer = [name](http::Request) -> Future<http::Response> { return http::Response{.body = name + "\n"}; };
    Future<Void> stop = replaced(sockets) || endOfProgram();
    Future<Void> serving = http::serve(sockets.http, http::Handler(answer), {}, stop); // accepts from here on
    if (sockets.before)
        co_await sockets.before->write("+"_sr); // the other process may end
    co_await std::move(serving);
    std::printf("%s: ends\n", name.c_str());
}

} // namespace

int main(int argc, char** argv) {
    return runExample(argc, argv, "PORT PATH NAME", 3, 3, [](Arguments const& arguments) {
        return run(addressOf(arguments[0]), Address::unixPath(arguments[1]), arguments[2]);
    });
}
