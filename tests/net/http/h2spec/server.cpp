// h2spec_server: the HTTP server to which check_h2spec.py sends its cases. Prints where it listens.

#include "net/http/server.h"
#include "flow/combine/all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "flow/wait/signals.h"
#include "net/transport.h"

#include <csignal>
#include <cstdio>

using namespace flow;
using namespace flow::net;

namespace {

/// Some cases send a wrong frame behind a request, and expect that no answer has come before it.
Future<http::Response> answer(http::Request request) {
    co_await delay(0.02);
    http::Response response;
    response.body = request.method == "POST" ? co_await request.body.text(1 << 20) : std::string("hello\n");
    co_return response;
}

Future<Void> serve() {
    Reference<Listener> listener = transport().listen(Address(127 << 24 | 1, 0));
    std::printf("listening at %s\n", listener->localAddress().toString().c_str());
    std::fflush(stdout);
    Future<Void> stop = success(keep(signals({SIGTERM})));
    co_await http::serve(std::move(listener), answer, {}, std::move(stop));
}

} // namespace

int main() {
    RealLoop loop;
    loop.run(serve());
}
