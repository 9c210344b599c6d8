// ReadStrategy::Ahead: it differs from the other strategies in nothing but its cost.
#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/standalone.h"
#include "flow/wait/delay.h"
#include "net/real/detached_connection.h"
#include "net/real/detail/real_connection.h"
#include "net/transport.h"
#include "tests/flow/support/death.h"
#include "tests/net/ahead_transport.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <span>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// Runs the test with io_uring, where connections are received ahead, and with epoll, where they are not.
void withBoth(Future<Void> (*test)()) {
    for (char const* poller : {"uring", "epoll"}) {
        ChosenPoller chosen(poller);
        if (*poller == 'u' && !canReceiveAhead()) {
            MESSAGE("this kernel or this build cannot receive ahead: only epoll is tested");
            continue;
        }
        INFO(std::string(poller));
        RealLoop loop;
        RealNetwork network(loop);
        AheadTransport ahead;
        loop.run(timeoutError(test(), 60));
    }
}

Future<Pair> makePairHere() {
    return makePairAt(Address(0x7F000001, 0));
}

/// One that has received, so that the kernel receives what comes next.
Future<Pair> makeUsedPair() {
    Pair pair = co_await makePairHere();
    co_await pair.client->write("first"_sr);
    Bytes first = co_await pair.server->readExactly(5);
    CHECK(first == "first"_sr);
    Future<Bytes> next = keep(pair.server->read());
    co_await delay(0);
    co_return pair;
}

Bytes numbered(int size) {
    Bytes bytes = makeString(size);
    for (int i = 0; i < size; ++i)
        mutateString(bytes)[i] = static_cast<std::uint8_t>(i * 31 + i / 4096);
    return bytes;
}

} // namespace

TEST_CASE("receive ahead: it does what every connection does") {
    if (std::getenv("FLOW_POLLER")) // the run without it has done this
        return;
    ChosenPoller chosen("uring");
    if (!canReceiveAhead())
        return;
    for (TransportCase const& each : transportCases()) {
        INFO(std::string(each.name));
        RealLoop loop;
        RealNetwork network(loop);
        AheadTransport ahead;
        loop.run(each.run());
    }
}

TEST_CASE("receive ahead: a read needs no system call, where the kernel can") {
    withBoth([]() -> Future<Void> {
        bool isAhead = canReceiveAhead() && std::string(std::getenv("FLOW_POLLER")) == "uring";
        Pair pair = co_await makePairHere();
        Future<Void> serving = echoOnce(pair.server);
        co_await askTimes(pair.client, 100);
        SocketCounters counters = pair.server->counters();
        CHECK(counters.bytesRead == 400);
        CHECK((isAhead ? counters.arrivals : counters.reads) >= 100);
        CHECK((isAhead ? counters.reads : counters.arrivals) == 0);
        CHECK(counters.systemCalls() <= (isAhead ? 100 : 201));
    });
}

TEST_CASE("receive ahead: what nobody reads is bounded, delays no other connection, and comes whole when it is read") {
    withBoth([]() -> Future<Void> {
        constexpr int kMuch = 8 << 20;
        Pair flooded = co_await makeUsedPair(), other = co_await makeUsedPair();
        Bytes much = numbered(kMuch);
        Future<Void> writing = flooded.client->write(much);
        Future<Void> serving = echoOnce(other.server);
        for (int i = 0; i < 200; ++i) {
            co_await askTimes(other.client, 1);
            co_await delay(0.0005);
        }
        constexpr std::size_t kBuffers = 256 * 1024; // of the poller: they may all be full when it notices
        CHECK(flooded.server->bufferedBytes() <= RealConnection::kMostAhead + kBuffers);
        CHECK(!writing.isReady());
        int at = 0;
        while (at < kMuch / 2) {
            Bytes some = co_await flooded.server->read(100'000);
            CHECK(some == StringRef(much.begin() + at, some.size()));
            at += some.size();
            co_await delay(at % 2 == 0 ? 0 : 0.0002);
        }
        Bytes rest = co_await flooded.server->readExactly(static_cast<std::uint32_t>(kMuch - at));
        CHECK(rest == StringRef(much.begin() + at, rest.size()));
        co_await writing;
    });
}

TEST_CASE("receive ahead: many connections have bytes at once, more than there are buffers") {
    withBoth([]() -> Future<Void> {
        constexpr int kSize = 20'000;
        std::vector<Pair> pairs;
        std::vector<Future<Bytes>> reads;
        for (int i = 0; i < 60; ++i)
            pairs.push_back(co_await makeUsedPair());
        Bytes some = numbered(kSize);
        for (int round = 0; round < 3; ++round) {
            reads.clear();
            for (Pair& each : pairs)
                each.client->write(some);
            for (Pair& each : pairs)
                reads.push_back(keep(each.server->readExactly(kSize)));
            for (Future<Bytes>& each : reads) {
                Bytes got = co_await each;
                CHECK(got == some);
            }
        }
    });
}

TEST_CASE("receive ahead: an end, and a reset, behind bytes that were not read") {
    withBoth([]() -> Future<Void> {
        for (bool isReset : {false, true}) {
            Pair pair = co_await makeUsedPair();
            co_await pair.client->write("last words"_sr);
            isReset ? pair.client->abort() : pair.client->shutdownWrite();
            co_await delay(0.01);
            Bytes last = co_await pair.server->readExactly(10);
            CHECK(last == "last words"_sr);
            Error end = co_await endOf(keep(pair.server->readExactly(1)));
            CHECK(end == (isReset ? connection_reset() : end_of_stream()));
            if (isReset)
                continue;
            co_await pair.server->write("answer"_sr);
            Bytes answer = co_await pair.client->readExactly(6);
            CHECK(answer == "answer"_sr);
        }
    });
}

TEST_CASE("receive ahead: closing with unread bytes makes the other side's connection fail") {
    withBoth([]() -> Future<Void> {
        for (bool isNoticed : {false, true}) {
            Pair pair = co_await makeUsedPair();
            co_await pair.client->write("unread"_sr);
            if (isNoticed) // otherwise the kernel may have them, and the poller does not know
                co_await delay(0.01);
            pair.server->close();
            Error error = co_await endOf(readAll(pair.client));
            CHECK(error == connection_reset());
        }
    });
}

TEST_CASE("receive ahead: a descriptor that is used again gets no bytes of the connection before") {
    withBoth([]() -> Future<Void> {
        for (int i = 0; i < 60; ++i) {
            Pair old = co_await makeUsedPair();
            old.client->write("old"_sr);
            if (i % 3 == 0)
                co_await delay(0);
            i % 2 == 0 ? old.server->abort() : old.server->close();
            Pair fresh = co_await makePairHere();
            fresh.client->write("new"_sr);
            Bytes got = co_await fresh.server->readExactly(3);
            CHECK(got == "new"_sr);
        }
    });
}

TEST_CASE("receive ahead: a read that loses has taken nothing, though its bytes have come") {
    withBoth([]() -> Future<Void> {
        Pair pair = co_await makeUsedPair();
        char here[8] = {};
        for (int i = 0; i < 20; ++i) {
            Future<std::size_t> reading = keep(pair.server->readSome(std::span(here)));
            pair.client->write("word"_sr);
            co_await delay(i % 2 == 0 ? 0 : 0.002);
            if (reading.isReady()) {
                CHECK(reading.get() == 4);
            } else {
                reading = Future<std::size_t>();
                Bytes word = co_await pair.server->readExactly(4);
                CHECK(word == "word"_sr);
            }
            auto raced = co_await race(delay(0), pair.server->readSome(std::span(here)));
            CHECK(raced.index() == 0);
        }
        pair.client->write("end"_sr);
        Bytes end = co_await pair.server->readExactly(3);
        CHECK(end == "end"_sr);
    });
}

TEST_CASE("receive ahead: a connection that is handed over takes along what the kernel has received") {
    for (char const* poller : {"uring", "epoll"}) {
        ChosenPoller chosen(poller);
        if (*poller == 'u' && !canReceiveAhead())
            continue;
        RealLoop loop;
        RealNetwork network(loop);
        auto test = [](bool isAhead) -> Future<Void> {
            ListenOptions options;
            options.readStrategy = ReadStrategy::Ahead;
            Reference<Listener> listener = transport().listen(Address(0x7F000001, 0), options);
            Reference<Connection> client = co_await transport().connect(listener->localAddress());
            Reference<Connection> server = co_await listener->accept();
            for (int i = 0; i < 20; ++i) {
                Future<Bytes> first = keep(server->readExactly(2));
                client->write("ab"_sr);
                Bytes two = co_await first;
                CHECK(two == "ab"_sr);
                client->write("cd"_sr);
                if (i % 2 == 0)
                    co_await delay(0.001);
                DetachedConnection detached(server);
                client->write("ef"_sr);
                server = detached.attach();
                Bytes rest = co_await server->readExactly(4);
                CHECK(rest == "cdef"_sr);
                CHECK((server->counters().arrivals > 0) == isAhead);
            }
        };
        loop.run(test(*poller == 'u'));
    }
}

TEST_CASE("receive ahead: a child of fork() and its parent do not take each other's bytes") {
    ChosenPoller chosen("uring");
    if (!canReceiveAhead())
        return;
    RealLoop loop;
    RealNetwork network(loop);
    AheadTransport ahead;
    Pair pair = loop.run(makeUsedPair());
    loop.run(Future<Void>(pair.client->write("kept"_sr)));
    loop.run(delay(0.01)); // it is in memory of the poller
    test::Death child = test::runInChild([&] {
        auto own = []() -> Future<Void> {
            Pair pair = co_await makeUsedPair();
            Future<Void> serving = echoOnce(pair.server);
            co_await askTimes(pair.client, 20);
        };
        loop.run(own());
        if (loop.run(keep(pair.server->readExactly(4))) != "kept"_sr)
            throw operation_failed();
    });
    CHECK(child.status == 0);
    CHECK(loop.run(keep(pair.server->readExactly(4))) == "kept"_sr);
    Future<Void> serving = echoOnce(pair.server);
    loop.run(askTimes(pair.client, 20));
}
