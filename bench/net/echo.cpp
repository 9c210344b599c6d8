#include "bench/net/echo.h"

#include "bench/net/load.h"
#include "bench/net/program_calls.h"
#include "bench/net/system_calls.h"
#include "bench/run.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "net/poll/network_poller.h"
#include "net/real/real_network.h"
#include "net/transport.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>
#if defined(MILLRACE_FIBER)
#include "flow/fiber/fiber.h"
#endif

namespace bench {
namespace {

using namespace flow;
using namespace flow::net;

/// Longer with many, so that accepting them does not show.
double secondsFor(int connections) {
    return connections < 1000 ? 0.3 : 1;
}

constexpr double kOpenRate = 20'000; // questions a second
constexpr int kConnections = 50;     // of the open loop, and of several questions at a time
constexpr int kDepth = 16;

struct Asking {
    int connections;
    int depth = 1;   // of a closed loop
    double rate = 0; // that of an open loop
};

/// Of this thread, in nanoseconds.
double processorTime() {
    timespec used;
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

/// Serves one load. Calls begins() before that has a connection. Nothing if a connection failed, or no answer came for
/// a second.
std::optional<LoadResult> serveLoad(ServeEcho const& serve, Asking asking, std::function<void()> const& begins) {
    std::optional<LoadResult> result;
    std::thread load;
    serve(asking.connections, [&](std::uint16_t port) {
        begins();
        load = std::thread([&result, port, asking] {
            double seconds = secondsFor(asking.connections);
            try {
                result = asking.rate != 0 ? askAtRate(port, asking.connections, seconds, asking.rate)
                                          : ask(port, asking.connections, seconds, asking.depth);
            } catch (Error&) { // its connections are closed, which ends the server
            }
        });
    });
    load.join();
    return result;
}

double perRequest(double number, LoadResult const& result) {
    return number / static_cast<double>(result.allRequests);
}

/// Of another program: by a round of its own, since counting takes time.
struct KernelsCount {
    double callsPerRequest = 0;
    std::string obstacle; // why there is no number; empty if there is one
};

KernelsCount countByKernel(ServeEcho const& serve, Asking asking) {
    ProgramCalls calls;
    if (!calls.obstacle().empty())
        return {0, calls.obstacle()};
    std::uint64_t before = 0; // the start of the program
    std::optional<LoadResult> result = serveLoad(serve, asking, [&] { before = calls.count(); });
    if (!result)
        return {0, "a connection failed in the round that counts"};
    return {perRequest(static_cast<double>(calls.count() - before), *result), ""};
}

void measure(ServeEcho const& serve, Asking asking, Calls known, std::optional<KernelsCount>& byKernel) {
    if (!allowDescriptors(asking.connections))
        return Benchmark::fail("the limit of open files is too low");
    std::optional<LoadResult> result;
    uringCalls = 0;
    std::uint64_t calls = systemCalls();
    double processor = processorTime();
    result = serveLoad(serve, asking, [] {});
    processor = processorTime() - processor;
    calls = systemCalls() - calls + uringCalls;
    if (!result)
        return Benchmark::fail("a connection failed, or no answer came for a second");
    Benchmark::addFigure("requests_per_second", result->requestsPerSecond);
    Benchmark::addFigure("p50_us", result->p50 / 1000);
    Benchmark::addFigure("p99_us", result->p99 / 1000);
    if (known == Calls::Counted) {
        Benchmark::addFigure("system_calls_per_request", perRequest(static_cast<double>(calls), *result));
        Benchmark::addFigure("server_ns_per_request", perRequest(processor, *result));
        return;
    }
    if (!byKernel)
        byKernel = countByKernel(serve, asking);
    if (byKernel->obstacle.empty())
        Benchmark::addFigure("system_calls_per_request", byKernel->callsPerRequest);
    else
        Benchmark::setLabel("system calls are not counted: " + byKernel->obstacle);
}

// The floor: the least that any way needs.

void require(bool done) {
    if (!done)
        throw platform_error();
}

void watch(int epoll, int descriptor) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.fd = descriptor;
    require(::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0);
}

void serveRaw(int connections, Listening const& listening) {
    int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    socklen_t size = sizeof address;
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 && ::listen(listener, 1024) == 0);
    require(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    watch(epoll, listener);
    listening(ntohs(address.sin_port));
    for (int open = connections; open != 0;) {
        epoll_event events[256];
        int count = ::epoll_wait(epoll, events, 256, -1);
        for (int i = 0; i < count; ++i) {
            int descriptor = events[i].data.fd;
            if (descriptor == listener) {
                int accepted = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if (accepted >= 0)
                    watch(epoll, accepted);
                continue;
            }
            char bytes[4096];
            ssize_t got = ::recv(descriptor, bytes, sizeof bytes, 0);
            if (got > 0) {
                require(::send(descriptor, bytes, static_cast<std::size_t>(got), MSG_NOSIGNAL) == got);
            } else if (got == 0 || errno != EAGAIN) {
                ::close(descriptor);
                --open;
            }
        }
    }
    ::close(epoll);
    ::close(listener);
}

// Ours.

Future<Void> serveCoroutines(Reference<Listener> listener, int connections) {
    std::vector<Future<Void>> all;
    for (int i = 0; i < connections; ++i) {
        Reference<Connection> accepted = co_await listener->accept();
        all.push_back(echo(std::move(accepted)));
    }
    co_await waitForAll(all);
}

/// Destroys itself at the end.
class Echo {
public:
    Echo(Reference<Connection> connection, int* open, Promise<Void>* end)
        : connection_(std::move(connection)), open_(open), end_(end) {}
    void readOn() {
        connection_->asyncReadSome(std::span(buffer_), [this](Error error, std::size_t bytes) {
            if (error.isValid() || bytes == 0)
                return finish();
            connection_->asyncWrite(StringRef(reinterpret_cast<std::uint8_t*>(buffer_), static_cast<int>(bytes)),
                                    [this](Error failed) { failed.isValid() ? finish() : readOn(); });
        });
    }

private:
    void finish() {
        Promise<Void>* end = --*open_ == 0 ? end_ : nullptr;
        delete this;
        if (end)
            end->send(Void());
    }

    Reference<Connection> connection_;
    int* open_;
    Promise<Void>* end_;
    char buffer_[4096];
};

Future<Void> serveCallbacks(Reference<Listener> listener, int connections) {
    struct Server {
        Reference<Listener> listener;
        int left, open;
        Promise<Void> end;
        void acceptOn() {
            listener->asyncAccept([this](Error, Reference<Connection> accepted) {
                (new Echo(std::move(accepted), &open, &end))->readOn();
                if (--left != 0)
                    acceptOn();
            });
        }
    } server{std::move(listener), connections, connections, {}};
    server.acceptOn();
    co_await server.end.getFuture();
}

#if defined(MILLRACE_FIBER)
Future<Void> serveFibers(Reference<Listener> listener, int connections) {
    std::vector<Future<Void>> all;
    for (int i = 0; i < connections; ++i) {
        Reference<Connection> accepted = co_await listener->accept();
        all.push_back(fiber::spawn(
            [accepted] {
                try {
                    for (;;) {
                        Bytes bytes = fiber::wait(accepted->read());
                        if (bytes.empty())
                            return;
                        fiber::wait(accepted->write(std::move(bytes)));
                    }
                } catch (Error&) {
                }
            },
            {.stackBytes = 64 << 10}));
    }
    co_await waitForAll(all);
}
bool const fibers = addOurEcho("fiber", serveFibers);
#endif

bool canReceiveAhead() {
    if (!hasUring())
        return false;
    char const* before = std::getenv("FLOW_POLLER");
    std::string wanted = before ? before : "";
    ::setenv("FLOW_POLLER", "uring", 1);
    bool can = makePoller()->canReceiveAhead();
    before ? ::setenv("FLOW_POLLER", wanted.c_str(), 1) : ::unsetenv("FLOW_POLLER");
    return can;
}

bool const raw = addEcho("raw-epoll", serveRaw);
bool const coroutines = addOurEcho("coroutine", serveCoroutines);
bool const callbacks = addOurEcho("callback", serveCallbacks);

} // namespace

flow::Future<flow::Void> echo(flow::Reference<flow::net::Connection> connection) {
    try {
        for (;;) {
            Bytes bytes = co_await connection->read();
            if (bytes.empty())
                co_return;
            co_await connection->write(std::move(bytes));
        }
    } catch (Error&) {
    }
}

bool allowDescriptors(int connections) {
    rlimit limit;
    ::getrlimit(RLIMIT_NOFILE, &limit);
    auto wanted = static_cast<rlim_t>(connections) * 2 + 150;
    rlimit more = {std::max(limit.rlim_cur, wanted), std::max(limit.rlim_max, wanted)};
    if (::setrlimit(RLIMIT_NOFILE, &more) == 0) // only a privileged process may have more than its hard limit
        return true;
    limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, wanted));
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur >= wanted;
}

bool addEcho(std::string const& server, ServeEcho serve, Calls calls) {
    auto add = [&](std::string const& benchmark, int size, Asking asking) {
        auto byKernel = std::make_shared<std::optional<KernelsCount>>(); // once for all repetitions
        addOnce(benchmark + "/" + std::to_string(size) + "/" + server,
                [=] { measure(serve, asking, calls, *byKernel); });
    };
    for (int connections : {1, 50, 1000, 9900}) // both ends of the last are less than 20,000 descriptors
        add("echo", connections, {connections});
    add("echo-depth", kDepth, {kConnections, kDepth});
    add("echo-open", kConnections, {kConnections, 1, kOpenRate});
    return true;
}

bool addOurEcho(std::string const& style, ServeOurs serve) {
    std::vector<std::string> ways = {"epoll"};
    if (hasUring())
        ways.push_back("uring");
    if (style == "coroutine" && canReceiveAhead())
        ways.push_back("uring-ahead");
    for (std::string const& way : ways) {
        std::string poller = way == "epoll" ? "epoll" : "uring";
        addEcho(style + "-" + way, [=](int connections, Listening const& listening) {
            ::setenv("FLOW_POLLER", poller.c_str(), 1);
            RealLoop loop;
            RealNetwork network(loop);
            ListenOptions options;
            if (way == "uring-ahead")
                options.readStrategy = ReadStrategy::Ahead;
            Reference<Listener> listener = network.listen(Address(INADDR_LOOPBACK, 0), options);
            Future<Void> served = serve(listener, connections);
            listening(listener->localAddress().port());
            loop.run(served);
            PollCounters polls = network.counters().polls;
            uringCalls = poller == "uring" ? polls.waits + polls.changes : 0;
        });
    }
    return true;
}

} // namespace bench
