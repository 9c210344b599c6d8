#include "net/poll/network_poller.h"

#include "flow/flow.h"
#include "net/real/real_network.h"
#include "tests/flow/support/death.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <memory>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

TEST_CASE("uring poller: a child of fork() and its parent do not take each other's news") {
    if (!hasUring())
        return;
    ChosenPoller chosen("uring");
    RealLoop loop;
    Pair pair = loop.run(makePairAt(Address(0x7F000001, 0)));
    Future<Void> serving = echoOnce(pair.server);
    loop.run(askTimes(pair.client, 3));
    ::test::Death child = ::test::runInChild([&] {
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

TEST_CASE("uring poller: a descriptor that cannot be watched does not keep the others' news back") {
    if (!hasUring())
        return;
    struct Noting final : PolledDescriptor {
        using PolledDescriptor::PolledDescriptor;
        int news = 0;
        void onNews(News) noexcept override { ++news; }
        bool isAwaited() const override { return true; }
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
