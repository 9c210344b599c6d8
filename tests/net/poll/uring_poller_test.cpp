#include "net/poll/network_poller.h"

#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/real/detail/real_socket.h"
#include "net/real/real_network.h"
#include "net/transport.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/descriptors.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <memory>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

struct CountsNews : PolledDescriptor {
    using PolledDescriptor::PolledDescriptor;
    int news = 0;
    void onNews(News) noexcept override { ++news; }
    bool isAwaited() const override { return true; }
};

} // namespace

TEST_CASE("uring poller: a child of fork() and its parent do not take each other's news") {
    if (!hasUring())
        return;
    ChosenPoller chosen("uring");
    RealLoop loop;
    Pair pair = loop.run(makePairAt(Address(0x7F000001, 0)));
    Future<Void> serving = echoOnce(pair.server);
    loop.run(askTimes(pair.client, 3));
    test::Death child = test::runInChild([&] {
        auto own = []() -> Future<Void> {
            Pair pair = co_await makePairAt(Address(0x7F000001, 0));
            Future<Void> serving = echoOnce(pair.server);
            co_await askTimes(pair.client, 20);
        };
        loop.run(own());
    });
    CHECK(child.status == 0);
    loop.run(askTimes(pair.client, 20));
}

namespace {

/// Connects with so many; how many descriptors the listener's side then has.
Future<int> connectMany(Address to, int count, std::vector<Reference<Connection>>& clients) {
    int before = openDescriptors();
    for (int i = 0; i < count; ++i) {
        Reference<Connection> client = co_await transport().connect(to);
        clients.push_back(std::move(client));
        co_await delay(0.001);
    }
    co_return openDescriptors() - before - count;
}

} // namespace

TEST_CASE("uring poller: a listener accepts with few calls") {
    if (!hasUring())
        return;
    ChosenPoller chosen("uring");
    RealLoop loop;
    RealNetwork network(loop);
    auto test = [&]() -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        std::vector<Reference<Connection>> clients;
        Future<int> connecting = connectMany(listener->localAddress(), 50, clients);
        for (int i = 0; i < 50; ++i) {
            Reference<Connection> server = co_await listener->accept();
            CHECK(server->peerAddress().isLoopback());
            CHECK(server->peerAddress().port() != 0);
        }
        co_await connecting;
    };
    loop.run(test());
    CHECK(network.counters().sockets.emptyReads <= 1); // before the first wait
    CHECK(network.counters().sockets.reads <= 52);     // for the addresses
}

TEST_CASE("uring poller: what a listener does not accept waits in the kernel, and comes later") {
    if (!hasUring())
        return;
    ChosenPoller chosen("uring");
    RealLoop loop;
    auto test = [](bool closes) -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        std::vector<Reference<Connection>> clients;
        Future<Reference<Connection>> first = keep(listener->accept());
        int accepted = co_await connectMany(listener->localAddress(), 20, clients);
        co_await first;
        CHECK(accepted >= 1);
        CHECK(accepted <= 4);
        if (closes) {
            listener->close();
            for (std::size_t i = 1; i < clients.size(); ++i) {
                Error error = co_await timeoutError(endOf(readAll(clients[i])), 10);
                CHECK(error == connection_reset());
            }
            co_return;
        }
        for (std::size_t i = 1; i < clients.size(); ++i) { // in their order
            Reference<Connection> server = co_await timeoutError(keep(listener->accept()), 10);
            CHECK(server->peerAddress() == clients[i]->localAddress());
        }
        Future<Reference<Connection>> last = keep(listener->accept()); // by polling from now on
        co_await connectMany(listener->localAddress(), 1, clients);
        co_await timeoutError(last, 10);
    };
    for (bool closes : {false, true}) {
        int before = openDescriptors();
        loop.run(test(closes));
        CHECK(openDescriptors() <= before + 2); // those of the poller
    }
}

TEST_CASE("uring poller: a listener that cannot accept says so") {
    if (!hasUring())
        return;
    struct Deaf final : CountsNews {
        using CountsNews::CountsNews;
        bool listens() const override { return true; }
    };
    ChosenPoller chosen("uring");
    std::unique_ptr<NetworkPoller> poller = makePoller();
    OpenDescriptor unbound = openSocket(Address(0x7F000001, 0), SOCK_STREAM, {});
    Deaf deaf(unbound.get());
    poller->prepare();
    poller->add(deaf);
    for (int i = 0; i < 100 && deaf.news == 0; ++i)
        poller->wait(0.1);
    CHECK(deaf.news != 0);
    poller->remove(deaf);
}

TEST_CASE("uring poller: a descriptor that cannot be watched does not keep the others' news back") {
    if (!hasUring())
        return;
    struct Noting final : CountsNews {
        using CountsNews::CountsNews;
        void close() { ::close(std::exchange(descriptor_, -1)); }
    };
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    Noting closed(::dup(ends[0])), good(ends[0]);
    ChosenPoller chosen("uring");
    std::unique_ptr<NetworkPoller> poller = makePoller();
    closed.close();
    poller->prepare();
    poller->add(closed);
    poller->add(good);
    poller->wait(0);
    CHECK(closed.news > 0); // reading and writing return the error
    CHECK(good.news == 1);
    CHECK(::write(ends[1], "x", 1) == 1);
    for (int i = 0; i < 100 && good.news == 1; ++i)
        poller->wait(1);
    CHECK(good.news == 2);
    poller->remove(closed);
    int before = closed.news;
    poller->wait(0);
    CHECK(closed.news == before);
    poller->remove(good);
    ::close(ends[0]);
    ::close(ends[1]);
}
