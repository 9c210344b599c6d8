// An echo server on two loops beside the same on one: each loop has a thread and a listener at the same port. The load
// has a thread of its own, so that two loops need three processors to show all that they can do.

#include "bench/net/echo.h"
#include "bench/net/load.h"
#include "bench/run.h"
#include "flow/core/future.h"
#include "flow/loop/real_loop.h"
#include "flow/threads/loop_pool.h"
#include "flow/threads/on_loop.h"
#include "net/serve.h"

#include <algorithm>
#include <arpa/inet.h>
#include <thread>

namespace {

using namespace flow;
using namespace flow::net;

constexpr int kConnections = 50;
constexpr int kRounds = 5;
constexpr double kSeconds = 0.3;

/// On the current loop, until it ends. Returns the port.
std::uint16_t serveAt(std::uint16_t port) {
    static thread_local Future<Void> serving;
    ListenOptions options;
    options.reusePort = true;
    Reference<Listener> listener = transport().listen(Address(INADDR_LOOPBACK, port), options);
    serving = serveUntil(listener, bench::echo, Never(), 0);
    return listener->localAddress().port();
}

bench::LoadResult askLoops(RealLoop& loop, int loops) {
    LoopPool pool(loops);
    std::uint16_t port = 0;
    for (int i = 0; i < loops; ++i)
        port = loop.run(onLoop(pool[i], [port] { return serveAt(port); }));
    return bench::ask(port, kConnections, kSeconds);
}

void measure(int loops) {
    RealLoop loop;
    double one = 0;
    bench::LoadResult several;
    try {
        for (int round = 0; round < kRounds; ++round) {
            one = std::max(one, askLoops(loop, 1).requestsPerSecond);
            bench::LoadResult result = askLoops(loop, loops);
            if (result.requestsPerSecond > several.requestsPerSecond)
                several = result;
        }
    } catch (Error& error) {
        return Benchmark::fail(error.what());
    }
    Benchmark::addFigure("requests_per_second", several.requestsPerSecond);
    Benchmark::addFigure("p99_us", several.p99 / 1000);
    Benchmark::addFigure("ratio_to_one_loop", several.requestsPerSecond / one);
    Benchmark::addFigure("load_processors", several.processors);
    Benchmark::addFigure("processors", std::thread::hardware_concurrency());
}

bool const added = [] {
    bench::addOnce("echo-loops/2/coroutine", [] { measure(2); });
    return true;
}();

} // namespace
