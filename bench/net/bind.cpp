// The bind benchmark: sockets are opened, bound at a free port of 127.0.0.1, listen (TCP) and close. Each of ours takes
// turns with the bare system calls, in batches and in both orders; the fastest tenth of the batches counts.

#include "flow/coro/coroutine.h"
#include "net/real/real_network.h"

#include <algorithm>
#include <arpa/inet.h>
#include <benchmark/benchmark.h>
#include <chrono>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using namespace flow;
using namespace flow::net;

constexpr int kBatch = 64; // as many as io_uring gets at once
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
    loop().run(waitForEach<isTcp>(count));
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

using Work = void (*)(int count);

class Times {
public:
    void measure(Work work, int count) {
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

void measure(benchmark::State& state, Work floor, Work work, int size) {
    RealLoop loop;
    RealNetwork network(loop);
    Times ours, bares;
    bool isFirst = true;
    for (auto _ : state)
        for (int left = size; left > 0; left -= kBatch) {
            int count = std::min(left, kBatch);
            if (isFirst)
                bares.measure(floor, count);
            ours.measure(work, count);
            if (!isFirst)
                bares.measure(floor, count);
            isFirst = !isFirst;
        }
    state.counters["ns_per_item"] = ours.best();
    state.counters["ratio_to_floor"] = ours.best() / bares.best();
}

void add(std::string const& benchmark, Work floor, std::initializer_list<std::pair<char const*, Work>> styles) {
    for (int size : {50, 100'000})
        for (auto const& [style, work] : styles) {
            std::string name = benchmark + "/" + std::to_string(size) + "/" + style;
            benchmark::RegisterBenchmark(name.c_str(), [=, work = work](benchmark::State& state) {
                measure(state, floor, work, size);
            })->UseRealTime();
        }
}

bool const registered = [] {
    add("bind-tcp", bare<true>, {{"sync", sync<true>}, {"async", async<true>}, {"many", many<true>}});
    add("bind-udp", bare<false>, {{"sync", sync<false>}, {"async", async<false>}, {"many", many<false>}});
    return true;
}();

} // namespace
