#include "bench/net/bind.h"

#include "bench/run.h"
#include "flow/coro/coroutine.h"
#include "net/real/real_network.h"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace flow;
using namespace flow::net;

constexpr int kBatch = 64;      // as many as io_uring gets at once
constexpr int kLeast = 100'000; // sockets of a result
constexpr std::uint32_t kLoopback = 0x7F000001;

void require(bool done) {
    if (!done)
        throw platform_error();
}

/// The floor: the least that any way needs.
template <bool isTcp>
void bare(int count) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(kLoopback);
    int on = 1;
    for (int i = 0; i < count; ++i) {
        int opened = ::socket(AF_INET, (isTcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (isTcp)
            require(::setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
        require(::bind(opened, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
        if (isTcp)
            require(::listen(opened, 1024) == 0);
        ::close(opened);
    }
}

template <bool isTcp>
void sync(int count) {
    for (int i = 0; i < count; ++i)
        if constexpr (isTcp)
            transport().listen(Address(kLoopback, 0));
        else
            transport().bind(Address(kLoopback, 0));
}

template <bool isTcp>
Future<Void> waitForEach(int count) {
    for (int i = 0; i < count; ++i)
        if constexpr (isTcp)
            co_await transport().listenAsync(Address(kLoopback, 0));
        else
            co_await transport().bindAsync(Address(kLoopback, 0));
}
template <bool isTcp>
void async(int count) {
    Loop::current().run(waitForEach<isTcp>(count));
}

template <bool isTcp>
void many(int count) {
    static std::vector<Address> const all(kBatch, Address(kLoopback, 0));
    auto some = std::span(all).first(static_cast<std::size_t>(count));
    if constexpr (isTcp)
        transport().listenMany(some);
    else
        transport().bindMany(some);
}

class Times {
public:
    void measure(bench::BindWork work, int count) {
        auto before = std::chrono::steady_clock::now();
        work(count);
        std::chrono::duration<double, std::nano> passed = std::chrono::steady_clock::now() - before;
        each_.push_back(passed.count() / count);
    }
    double best() {
        auto tenth = each_.begin() + static_cast<std::ptrdiff_t>(each_.size() / 10);
        std::nth_element(each_.begin(), tenth, each_.end());
        return *tenth;
    }

private:
    std::vector<double> each_; // ns an item
};

void measure(bench::BindWork floor, bench::BindWork work, int size) {
    RealLoop loop;
    RealNetwork network(loop);
    Times ours, bares;
    bool isFirst = true;
    for (int rounds = std::max(1, kLeast / size); rounds > 0; --rounds)
        for (int left = size; left > 0; left -= kBatch) {
            int count = std::min(left, kBatch);
            if (isFirst)
                bares.measure(floor, count);
            ours.measure(work, count);
            if (!isFirst)
                bares.measure(floor, count);
            isFirst = !isFirst;
        }
    Benchmark::addFigure("ns_per_item", ours.best());
    Benchmark::addFigure("ratio_to_floor", ours.best() / bares.best());
}

void add(std::string const& benchmark, std::string const& style, bench::BindWork floor, bench::BindWork work) {
    for (int size : {50, 100'000})
        bench::addOnce(benchmark + "/" + std::to_string(size) + "/" + style, [=] { measure(floor, work, size); });
}

bool const added = [] {
    bench::addBind("sync", sync<true>, sync<false>);
    bench::addBind("async", async<true>, async<false>);
    return bench::addBind("many", many<true>, many<false>);
}();

} // namespace

bool bench::addBind(std::string const& style, BindWork tcp, BindWork udp) {
    add("bind-tcp", style, bare<true>, tcp);
    add("bind-udp", style, bare<false>, udp);
    return true;
}
