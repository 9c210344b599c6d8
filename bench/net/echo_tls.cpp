// Echo over TLS, and the same without it. Both ends are ours: a server in the benchmark's thread, and a load in another
// that sends 64 bytes on each connection and waits for the answer.

#include "bench/net/echo.h"
#include "bench/net/load.h"
#include "bench/run.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "net/tls/tls_listener.h"
#include "net/transport.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <ctime>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace flow;
using namespace flow::net;

constexpr int kBytes = 64;
constexpr double kSeconds = 0.3;

std::string certificate(char const* file) {
    return std::string(MILLRACE_TEST_CERTIFICATES "/") + file;
}

std::uint64_t nanoseconds(clockid_t clock) {
    timespec time = {};
    ::clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

struct Load {
    std::uint64_t begin, end; // of what counts
    bench::Histogram times = {};
    std::uint64_t counted = 0;
};

Future<Void> askOn(Reference<Connection> connection, Load* load) {
    static std::uint8_t const question[kBytes] = {};
    std::uint8_t answer[kBytes];
    for (std::uint64_t last = 0; last < load->end;) {
        std::uint64_t asked = nanoseconds(CLOCK_MONOTONIC);
        co_await connection->write(StringRef(question, kBytes));
        co_await connection->readExactly(std::span(answer));
        last = nanoseconds(CLOCK_MONOTONIC);
        if (last < load->begin || last >= load->end)
            continue;
        ++load->counted;
        load->times.add(last - asked);
    }
}

Future<Void> askAll(std::uint16_t port, int connections, bool isTls, bench::LoadResult* result) {
    Address server(INADDR_LOOPBACK, port);
    std::vector<Reference<Connection>> all;
    Reference<TlsContext> context;
    if (isTls) {
        TlsClientOptions options;
        options.authorities = certificate("ca.pem");
        context = TlsContext::client(options);
    }
    for (int i = 0; i < connections; ++i) {
        Reference<Connection> connected = co_await transport().connect(server);
        if (isTls)
            connected = co_await tlsClient(std::move(connected), context, "localhost");
        all.push_back(std::move(connected));
    }
    std::uint64_t started = nanoseconds(CLOCK_MONOTONIC), used = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    auto length = static_cast<std::uint64_t>(kSeconds * 1e9);
    Load load{started + length / 5, started + length / 5 + length};
    std::vector<Future<Void>> asking;
    for (Reference<Connection>& each : all)
        asking.push_back(askOn(each, &load));
    co_await waitForAll(asking);
    result->processors = static_cast<double>(nanoseconds(CLOCK_THREAD_CPUTIME_ID) - used) /
                         static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - started);
    result->requestsPerSecond = static_cast<double>(load.counted) / kSeconds;
    result->p50 = load.times.percentile(0.5);
    result->p99 = load.times.percentile(0.99);
}

/// Until all connections are closed.
Future<Void> serve(Reference<Listener> listener, int connections) {
    std::vector<Future<Void>> all;
    for (int i = 0; i < connections; ++i) {
        Reference<Connection> accepted = co_await listener->accept();
        all.push_back(bench::echo(std::move(accepted)));
    }
    co_await waitForAll(all);
}

void measure(int connections, bool isTls) {
    ::setenv("FLOW_POLLER", "epoll", 1);
    bench::LoadResult result;
    RealLoop loop;
    Reference<Listener> listener = transport().listen(Address(INADDR_LOOPBACK, 0));
    if (isTls) {
        TlsServerOptions options;
        options.identities = {{certificate("server.pem"), certificate("server.key")}};
        listener = makeReference<TlsListener>(listener, TlsContext::server(options));
    }
    std::uint16_t port = listener->localAddress().port();
    std::thread load([=, &result] {
        RealLoop own;
        own.run(askAll(port, connections, isTls, &result));
    });
    loop.run(serve(listener, connections));
    load.join();
    Benchmark::addFigure("requests_per_second", result.requestsPerSecond);
    Benchmark::addFigure("p50_us", result.p50 / 1000);
    Benchmark::addFigure("p99_us", result.p99 / 1000);
    Benchmark::addFigure("load_processors", result.processors);
}

bool const added = [] {
    for (int connections : {1, 50})
        for (bool isTls : {false, true})
            bench::addOnce("echo-tls/" + std::to_string(connections) + "/coroutine" + (isTls ? "" : "-plain"),
                           [=] { measure(connections, isTls); });
    return true;
}();

} // namespace
