// The memory of a server with very many connections, each of which has had one answer and then says nothing.

#include "bench/net/echo.h"
#include "bench/run.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/poll/network_poller.h"
#include "net/real/real_network.h"
#include "net/transport.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace flow;
using namespace flow::net;

constexpr int kConnections = 10'000;

double residentBytes() {
    unsigned long pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (!file || std::fscanf(file, "%*u %lu", &pages) != 1)
        throw platform_error();
    std::fclose(file);
    return static_cast<double>(pages) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// The other ends: bare descriptors, which cost this process nothing but the kernel's memory.
class Clients {
public:
    explicit Clients(std::uint16_t port) {
        address_.sin_family = AF_INET;
        address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        address_.sin_port = htons(port);
        all_.reserve(kConnections);
    }
    Clients(Clients const&) = delete;
    Clients& operator=(Clients const&) = delete;
    ~Clients() {
        for (int each : all_)
            ::close(each);
    }
    void connectOne() {
        int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (descriptor < 0)
            throw platform_error();
        all_.push_back(descriptor);
        if (::connect(descriptor, reinterpret_cast<sockaddr*>(&address_), sizeof address_) != 0 ||
            ::send(descriptor, "hello", 5, MSG_NOSIGNAL) != 5)
            throw platform_error();
    }
    /// Whether the last one has its answer.
    bool hasAnswer() {
        char answer[5];
        return ::recv(all_.back(), answer, sizeof answer, MSG_DONTWAIT) == 5;
    }

private:
    sockaddr_in address_ = {};
    std::vector<int> all_;
};

struct Server {
    Reference<Listener> listener = transport().listen(Address(INADDR_LOOPBACK, 0));
    Clients clients{listener->localAddress().port()};
    std::vector<Future<Void>> served;

    Future<Void> serveMore(int connections) {
        for (int i = 0; i < connections; ++i) {
            clients.connectOne();
            Reference<Connection> accepted = co_await listener->accept();
            served.push_back(bench::echo(std::move(accepted)));
            while (!clients.hasAnswer())
                co_await delay(0);
        }
    }
};

void measure(std::string const& poller) {
    constexpr int kFirst = 100; // so that what the loop needs once does not count
    bench::allowDescriptors(kConnections);
    rlimit limit;
    ::getrlimit(RLIMIT_NOFILE, &limit);
    int connections = std::min(kConnections, static_cast<int>(limit.rlim_cur - 200) / 2);
    ::setenv("FLOW_POLLER", poller.c_str(), 1);
    RealLoop loop;
    RealNetwork network(loop);
    Server server;
    server.served.reserve(static_cast<std::size_t>(connections));
    loop.run(server.serveMore(kFirst));
    double before = residentBytes();
    loop.run(server.serveMore(connections - kFirst));
    Benchmark::addFigure("bytes_per_connection", (residentBytes() - before) / (connections - kFirst));
}

bool const added = [] {
    for (std::string poller : {"epoll", "uring"})
        if (poller == "epoll" || hasUring())
            bench::addOnce("idle/" + std::to_string(kConnections) + "/coroutine-" + poller, [=] { measure(poller); });
    return true;
}();

} // namespace
