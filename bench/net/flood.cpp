// One client sends as fast as it can to a server that works for each piece: how long do a timer and another client of
// the same loop wait, and how many bytes are served?

#include "bench/net/echo.h"
#include "bench/net/load.h"
#include "bench/run.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/poll/network_poller.h"
#include "net/real/real_network.h"

#include <arpa/inet.h>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace flow;
using namespace flow::net;

constexpr double kSeconds = 1;
constexpr double kWork = 200e-6; // for each 64 KiB
constexpr double kRate = 200;    // questions of the other client, and timers, a second

struct Figures {
    std::uint64_t bytes = 0;
    bench::Histogram late; // timers
};

Future<Void> workOn(Reference<Connection> connection, Figures* figures) {
    for (;;) {
        Bytes bytes = co_await connection->read();
        if (bytes.empty())
            co_return;
        figures->bytes += static_cast<std::uint64_t>(bytes.size());
        double end = timer() + kWork * bytes.size() / 65536;
        while (timer() < end) {
        }
    }
}

Future<Void> tick(Figures* figures) {
    for (double due = timer();;) {
        due = std::max(due + 1 / kRate, timer());
        co_await delayUntil(due);
        figures->late.add(static_cast<std::uint64_t>(std::max(timer() - due, 0.0) * 1e9));
    }
}

/// Sends until the other side ends.
void flood(std::uint16_t port) {
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port);
    int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    std::vector<char> bytes(256 * 1024);
    if (::connect(descriptor, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0)
        while (::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) {
        }
    ::close(descriptor);
}

/// The flood comes before the other client, and goes on until that has ended.
Future<Void> serve(Reference<Listener> listener, Figures* figures, std::optional<bench::LoadResult>* answers) {
    std::uint16_t port = listener->localAddress().port();
    std::thread flooding(flood, port), asking;
    Reference<Connection> flooded = co_await listener->accept();
    Future<Void> working = workOn(flooded, figures), ticking = tick(figures);
    asking = std::thread([port, answers] {
        try {
            *answers = bench::askAtRate(port, 1, kSeconds, kRate);
        } catch (Error&) { // there is no result
        }
    });
    Reference<Connection> other = co_await listener->accept();
    double begin = timer();
    std::uint64_t before = figures->bytes;
    co_await bench::echo(other);
    figures->bytes = static_cast<std::uint64_t>(static_cast<double>(figures->bytes - before) / (timer() - begin));
    ticking.cancel();
    working.cancel();
    flooded->abort();
    flooding.join();
    asking.join();
}

void measure(std::string const& poller) {
    ::setenv("FLOW_POLLER", poller.c_str(), 1);
    RealLoop loop;
    RealNetwork network(loop);
    Figures figures;
    std::optional<bench::LoadResult> answers;
    loop.run(serve(network.listen(Address(INADDR_LOOPBACK, 0), {}), &figures, &answers));
    if (!answers)
        return Benchmark::fail("the other client had no answers");
    Benchmark::addFigure("megabytes_per_second", static_cast<double>(figures.bytes) / 1e6);
    Benchmark::addFigure("timer_p99_us", figures.late.percentile(0.99) / 1000);
    Benchmark::addFigure("p50_us", answers->p50 / 1000);
    Benchmark::addFigure("p99_us", answers->p99 / 1000);
}

bool const added = [] {
    for (std::string poller : {"epoll", "uring"})
        if (poller == "epoll" || hasUring())
            bench::addOnce("flood/1/coroutine-" + poller, [=] { measure(poller); });
    return true;
}();

} // namespace
