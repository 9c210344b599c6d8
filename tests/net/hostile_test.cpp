// Hostile peers: each of them costs a server little, and delays no other peer.
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/standalone.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/poll/network_poller.h"
#include "net/real/real_network.h"
#include "net/serve.h"
#include "net/sim/sim_network.h"
#include "tests/flow/support/sanitizers.h"
#include "tests/net/costs.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// A server of lines: each is answered, a line has at most 100 bytes and must come within ten seconds.
Future<Void> answerLines(Reference<Connection> connection) {
    for (;;) {
        auto first = co_await race(connection->readUntil("\n"_sr, 100), delay(10));
        if (first.index() == 1)
            throw connection_timed_out();
        auto written = co_await race(connection->write(std::get<0>(std::move(first))), delay(10));
        if (written.index() == 1)
            throw connection_timed_out();
    }
}

/// Runs misbehave(address of the server) on the machine's network, with each poller, and on a simulated one, where
/// seconds cost nothing. `isSlow`: only there.
void beside(Future<Void> (*misbehave)(Address), bool isSlow = false) {
    auto test = [misbehave]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(transport().localAddress());
        Promise<Void> stop;
        Future<Void> serving = serveUntil(listener, answerLines, stop.getFuture(), 20);
        co_await misbehave(listener->localAddress());
        CHECK_FALSE(serving.isReady());
        stop.send(Void());
        co_await serving;
    };
    for (char const* poller : {"epoll", "uring"}) {
        if (isSlow || (std::string(poller) == "uring" && !hasUring()))
            continue;
        INFO(std::string(poller));
        ChosenPoller chosen(poller);
        RealLoop loop;
        loop.run(test());
    }
    World world(1);
    SimNetwork network(world, {.latency = 0.001, .jitter = 0, .bandwidth = 1e9});
    Process& process = world.start({.name = "p", .main = test});
    world.run(process.onStop());
    CHECK(process.exit() == Error());
}

/// A correct client is served.
Future<Void> askPolitely(Address server) {
    Reference<Connection> connection = co_await transport().connect(server);
    for (int i = 0; i < 20; ++i) {
        co_await connection->write("how are you\n"_sr);
        Bytes answer = co_await connection->readUntil("\n"_sr, 100);
        CHECK(answer == "how are you\n"_sr);
    }
}

Bytes filled(int size, int letter) {
    Bytes bytes = makeString(size);
    std::memset(mutateString(bytes), letter, static_cast<std::size_t>(size));
    return bytes;
}

} // namespace

TEST_CASE("hostile: one byte a second") {
    beside(
        [](Address server) -> Future<Void> {
            Reference<Connection> slow = co_await transport().connect(server);
            double begin = now();
            Error error;
            while (!error.isValid() && now() - begin < 100) {
                error = co_await endOf(Future<Void>(slow->write("x"_sr)));
                double before = now();
                co_await askPolitely(server);
                CHECK(now() - before < 1);
                co_await delay(1);
            }
            CHECK(now() - begin < 20); // the server has ended it
        },
        true);
}

TEST_CASE("hostile: never reads") {
    beside(
        [](Address server) -> Future<Void> {
            Reference<Connection> deaf = co_await transport().connect(server);
            std::size_t written = 0;
            Error error;
            while (!error.isValid() && written < 200'000'000) {
                Bytes line = filled(100, 'y');
                mutateString(line)[99] = '\n';
                Future<Void> writing = deaf->write(line);
                written += 100;
                co_await race(endOf(writing), delay(60));
                if (writing.isReady() && writing.isError())
                    error = writing.getError();
            }
            CHECK(error == connection_reset()); // it was waited for long enough
            CHECK(written < 100'000'000);
            co_await askPolitely(server);
        },
        true);
}

TEST_CASE("hostile: resets in the middle") {
    beside([](Address server) -> Future<Void> {
        for (int i = 0; i < 200; ++i) {
            Reference<Connection> rude = co_await transport().connect(server);
            Bytes words = i % 3 ? "half a li"_sr : "lines\nlines\nlines\n"_sr;
            co_await rude->write(std::move(words));
            if (i % 2)
                co_await delay(0);
            rude->abort();
            if (i % 20 == 0)
                co_await askPolitely(server);
        }
        co_await askPolitely(server);
    });
}

TEST_CASE("hostile: garbage") {
    beside([](Address server) -> Future<Void> {
        DeterministicRandom random(8);
        for (int i = 0; i < 50; ++i) {
            Reference<Connection> noisy = co_await transport().connect(server);
            Bytes noise = makeString(random.randomInt(1, 5000));
            random.randomBytes(mutateString(noise), static_cast<std::size_t>(noise.size()));
            (void)noisy->write(std::move(noise));
            noisy->shutdownWrite();
            Error end = co_await endOf(readAll(noisy));
            CHECK((!end.isValid() || isConnectionError(end)));
        }
        co_await askPolitely(server);
    });
}

TEST_CASE("hostile: opens very many connections, more than there are descriptors for") {
    beside([](Address server) -> Future<Void> { // UBSan opens a pipe when it sees an object's class for the first time
        co_await askPolitely(server);
        try {
            throw timed_out();
        } catch (...) {
            CHECK(currentError() == timed_out());
        }
    });
    RealLoop loop;
    rlimit before, few;
    ::getrlimit(RLIMIT_NOFILE, &before);
    few = {400, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
    RealNetwork network(loop);
    auto test = [](RealNetwork& network) -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        Reference<Connection> polite = co_await transport().connect(listener->localAddress());
        Promise<Void> stop;
        Future<Void> serving = serveUntil(listener, answerLines, stop.getFuture(), 0);
        std::vector<Reference<Connection>> many;
        Error error;
        while (!error.isValid()) {
            ErrorOr<Reference<Connection>> one = co_await tryGet(transport().connect(listener->localAddress()));
            if (one.isError())
                error = one.getError();
            else
                many.push_back(one.get());
        }
        CHECK(error == platform_error()); // no descriptor is left
        CHECK(many.size() > 100);
        std::uint64_t reads = network.counters().sockets.reads;
        for (int i = 0; i < 20; ++i) { // those that are there are served
            co_await polite->write("still\n"_sr);
            Bytes answer = co_await polite->readUntil("\n"_sr, 100);
            CHECK(answer == "still\n"_sr);
            co_await delay(0.01);
        }
        CHECK(network.counters().sockets.reads - reads < 500); // and the listener does not spin
        many.clear();
        co_await askPolitely(listener->localAddress());
        stop.send(Void());
        co_await serving;
    };
    loop.run(test(network));
    ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("hostile: thousands of connections that say nothing, or half a line") {
    rlimit before, many;
    ::getrlimit(RLIMIT_NOFILE, &before);
    many = {20'400, std::max<rlim_t>(20'400, before.rlim_max)};
    if (::setrlimit(RLIMIT_NOFILE, &many) != 0) { // only a privileged process may have so many
        many = {before.rlim_max, before.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &many);
    }
    beside([](Address server) -> Future<Void> {
        rlimit limit;
        ::getrlimit(RLIMIT_NOFILE, &limit);
        std::size_t count = std::min<std::size_t>(MILLRACE_UNDER_ASAN ? 2'000 : 10'000, (limit.rlim_cur - 200) / 2);
        std::vector<Reference<Connection>> silent;
        std::int64_t used = usedBytes();
        while (silent.size() < count) {
            silent.push_back(co_await transport().connect(server));
            if (silent.size() % 2)
                co_await silent.back()->write("half a li"_sr);
            if (silent.size() % 1000 == 0)
                co_await askPolitely(server);
        }
        std::int64_t each = (usedBytes() - used) / static_cast<std::int64_t>(count);
        MESSAGE(count, " connections, ", each, " bytes for both ends of each");
        if (kCountsCosts) {
            CHECK(each > 500);
            CHECK(each < 8'000);
        }
        co_await askPolitely(server);
    });
    ::setrlimit(RLIMIT_NOFILE, &before);
}
