#include "net/real/real_listener.h"

#include "flow/coro/coroutine.h"
#include "flow/coro/race.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/transport.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <string>
#include <sys/resource.h>
#include <unistd.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

TEST_CASE("real listener: a listener without descriptors pauses, and continues when there are some") {
    RealLoop loop;
    RealNetwork network(loop);
    auto test = [](RealNetwork& network) -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        Address at = listener->localAddress();
        // From here on the poller has its descriptors, and UBSan, which opens a pipe for each new class, knows all.
        Reference<Connection> first = co_await transport().connect(at);
        co_await listener->accept();
        rlimit before, one;
        ::getrlimit(RLIMIT_NOFILE, &before);
        int free = ::dup(0);
        ::close(free);
        one = {static_cast<rlim_t>(free) + 1, before.rlim_max}; // for the client
        ::setrlimit(RLIMIT_NOFILE, &one);
        Future<Reference<Connection>> accepting = keep(listener->accept());
        co_await delay(0);
        Future<Reference<Connection>> connecting = transport().connect(at);
        std::uint64_t calls = network.counters().sockets.reads;
        co_await delay(0.35);
        calls = network.counters().sockets.reads - calls;
        ::setrlimit(RLIMIT_NOFILE, &before);
        CHECK(!accepting.isReady());
        CHECK(calls >= 1);
        CHECK(calls <= 6);
        Reference<Connection> server = co_await accepting;
        co_await connecting;
    };
    loop.run(test(network));
}

TEST_CASE("real listener: an accepted connection that was not taken is reset when the listener closes") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        Accept accept = listener->accept();
        Reference<Connection> client = co_await transport().connect(listener->localAddress());
        CHECK(accept.isReady()); // the kernel has given it; the loser of a race would leave it here
        listener->close();
        Error error = co_await endOf(readAll(client));
        CHECK(error == connection_reset());
    };
    loop.run(test());
}

TEST_CASE("real listener: several listen at one port if they say so") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        ListenOptions shared;
        shared.reusePort = true;
        Reference<Listener> first = transport().listen(Address(0x7F000001, 0), shared);
        Reference<Listener> second = transport().listen(first->localAddress(), shared);
        for (int i = 0; i < 20; ++i) {
            Future<Reference<Connection>> connecting = transport().connect(first->localAddress());
            auto either = co_await race(first->accept(), second->accept());
            Reference<Connection> client = co_await connecting;
            CHECK(client.isValid());
        }
    };
    loop.run(test());
}

TEST_CASE("real listener: of [::], takes IPv4 as well unless it says otherwise") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        for (bool onlyV6 : {false, true}) {
            ListenOptions options;
            options.onlyV6 = onlyV6;
            Reference<Listener> listener = transport().listen(*Address::parse("[::]:0"), options);
            Address here(0x7F000001, listener->localAddress().port());
            Error refused = co_await endOf(transport().connect(here));
            CHECK(refused == (onlyV6 ? connection_refused() : Error()));
            Error reached =
                co_await endOf(transport().connect(*Address::parse("[::1]:" + std::to_string(here.port()))));
            CHECK(reached == Error());
        }
    };
    loop.run(test());
}
