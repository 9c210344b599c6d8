#include "bench/net/rpc.h"

#include "bench/net/load.h"
#include "bench/run.h"
#include "flow/compat/wait_for_all.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/object.h"
#include "flow/memory/standalone.h"
#include "net/real/real_network.h"
#include "net/rpc/rpc.h"

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace bench {

std::atomic<std::uint64_t> mallocs{0};
std::atomic<bool> countsMallocs{false};

} // namespace bench

// Every library comes here, so that all are counted alike.
extern "C" {
void* __libc_malloc(std::size_t);
void* malloc(std::size_t bytes) {
    if (bench::countsMallocs.load(std::memory_order_relaxed))
        bench::mallocs.fetch_add(1, std::memory_order_relaxed);
    return __libc_malloc(bytes);
}
}

namespace bench {
namespace {

using namespace flow;
using namespace flow::net;

// Nanoseconds.
constexpr std::uint64_t kWarmUp = 100'000'000, kTime = 300'000'000, kCount = 50'000'000;

template <class Payload>
struct Ask {
    constexpr static FileIdentifier file_identifier = 5100;
    Payload payload{};
    ReplyPromise<Payload> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, payload, reply);
    }
};
using Numbers = std::array<std::uint64_t, 8>;
using Bytes = Standalone<StringRef>;

template <class Payload>
Future<Void> answerAll(RequestStream<Ask<Payload>> asks, RpcMeter* meter) {
    FutureStream<Ask<Payload>> requests = asks.getFuture();
    for (;;) {
        Ask<Payload> request = co_await requests;
        meter->noteServer();
        request.reply.send(std::move(request.payload));
    }
}

template <class Payload>
Future<Void> askOn(RequestStream<Ask<Payload>> asks, Payload payload, RpcMeter* meter) {
    std::uint64_t since = RpcMeter::now();
    do {
        Ask<Payload> ask;
        ask.payload = payload;
        Payload answer = co_await asks.getReply(std::move(ask));
        if (answer != payload)
            throw internal_error();
    } while (meter->goesOn(since));
}

template <class Payload>
Future<Void> askAll(RpcJob job, std::uint16_t port, Payload payload, RpcMeter* meter) {
    std::vector<Future<Void>> all;
    for (int i = 0; i < job.connections; ++i) {
        Address at(INADDR_LOOPBACK + static_cast<unsigned>(i), port); // a connection for each address
        RequestStream<Ask<Payload>> asks(Endpoint::wellKnown({at, {}}, WLTOKEN_FIRST_AVAILABLE));
        for (int j = 0; j < job.depth; ++j)
            all.push_back(askOn(asks, payload, meter));
    }
    co_await waitForAll(all);
}

template <class Payload>
void runOurs(RpcJob const& job, RpcMeter& meter, Payload payload) {
    std::promise<std::uint16_t> port;
    std::promise<std::pair<Loop*, Promise<Void>*>> stopping;
    std::thread server([&] {
        RealLoop loop;
        RealNetwork network(loop);
        rpc::Node node;
        Future<Void> listening = node.bind(Address(INADDR_LOOPBACK, 0), Address(INADDR_ANY, 0));
        RequestStream<Ask<Payload>> asks;
        asks.makeWellKnownEndpoint(WLTOKEN_FIRST_AVAILABLE, TaskPriority::DefaultEndpoint);
        Future<Void> answering = answerAll(asks, &meter);
        Promise<Void> stop;
        stopping.set_value({&loop, &stop});
        port.set_value(node.getLocalAddress().port());
        loop.run(stop.getFuture() || listening || answering);
    });
    {
        RealLoop loop;
        RealNetwork network(loop);
        rpc::Node node;
        loop.run(askAll(job, port.get_future().get(), std::move(payload), &meter));
    }
    auto [loop, stop] = stopping.get_future().get();
    loop->post([stop = stop] { stop->send(Void()); });
    server.join();
}

bool const ours = addRpc("millrace", [](RpcJob const& job, RpcMeter& meter) {
    if (job.isSmall())
        runOurs<Numbers>(job, meter, {1, 2, 3, 4, 5, 6, 7, 8});
    else
        runOurs<Bytes>(job, meter, StringRef(std::string(job.bytes, 'x')));
});

} // namespace

RpcMeter::RpcMeter() : times_(std::make_unique<Histogram>()) {}
RpcMeter::~RpcMeter() = default;

std::uint64_t RpcMeter::now() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                      std::chrono::nanoseconds(1));
}

bool RpcMeter::goesOn(std::uint64_t& since) {
    std::uint64_t time = now();
    if (phase_ == Phase::Time) {
        times_->add(time - since);
        ++timed_;
        if (time - begin_ > kTime)
            enter(Phase::Count, time);
    } else if (phase_ == Phase::Count) {
        ++counted_;
        if (time - begin_ > kCount)
            enter(Phase::End, time);
    } else if (phase_ == Phase::WarmUp && time - begin_ > kWarmUp) {
        enter(Phase::Time, time);
    }
    since = time;
    return phase_ != Phase::End;
}

void RpcMeter::enter(Phase phase, std::uint64_t time) {
    if (phase == Phase::Count) {
        took_ = time - begin_;
        serverBlocks_ = 0;
        countsMallocs = true;
        allocations_ = allocated();
    } else if (phase == Phase::End) {
        allocations_ = allocated() - allocations_ + serverBlocks_;
        countsMallocs = false;
    }
    phase_ = phase;
    begin_ = time;
}

/// Of this thread's blocks; the server counts its own.
std::uint64_t RpcMeter::allocated() const {
    return mallocs + memory::totalStatistics().allocated;
}

void RpcMeter::noteServer() {
    static thread_local std::uint64_t last = 0;
    if (!countsMallocs.load(std::memory_order_relaxed))
        return void(last = 0);
    std::uint64_t all = memory::totalStatistics().allocated;
    if (std::uint64_t before = std::exchange(last, all))
        serverBlocks_.fetch_add(all - before, std::memory_order_relaxed);
}

double RpcMeter::requestsPerSecond() const {
    return static_cast<double>(timed_) / static_cast<double>(took_) * 1e9;
}

double RpcMeter::p99() const {
    return times_->percentile(0.99);
}

double RpcMeter::allocationsPerRequest() const {
    return static_cast<double>(allocations_) / static_cast<double>(counted_);
}

bool addRpc(std::string const& style, RunRpc run) {
    auto add = [&](std::string const& row, RpcJob job) {
        addOnce(row + "/" + style, [run, job] {
            RpcMeter meter;
            run(job, meter);
            Benchmark::addFigure("requests_per_second", meter.requestsPerSecond());
            Benchmark::addFigure("p99_us", meter.p99() / 1000);
            Benchmark::addFigure("allocs_per_item", meter.allocationsPerRequest());
        });
    };
    for (int depth : {1, 16, 256})
        add("rpc/" + std::to_string(depth), {1, depth, 64});
    add("rpc-connections/50", {50, 1, 64});
    add("rpc-bytes/1048576", {1, 1, 1 << 20});
    return true;
}

} // namespace bench
