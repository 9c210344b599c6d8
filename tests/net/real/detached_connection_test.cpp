#include "net/real/detached_connection.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/threads/loop_pool.h"
#include "net/transport.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

TEST_CASE("hand over: one loop accepts, others serve") {
    RealLoop loop;
    LoopPool pool(2);
    auto accept = [](Reference<Listener> listener, LoopPool& pool) -> Future<Void> {
        for (;;) {
            DetachedConnection detached(co_await listener->accept());
            pool.next().post([detached = std::move(detached)]() mutable {
                static thread_local std::vector<Future<Void>> served;
                served.push_back(echoOnce(detached.attach()));
            });
        }
    };
    auto test = [](Reference<Listener> listener) -> Future<Void> {
        std::vector<Reference<Connection>> clients;
        for (int i = 0; i < 20; ++i)
            clients.push_back(co_await transport().connect(listener->localAddress()));
        for (auto& each : clients)
            co_await askTimes(each, 5);
    };
    Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
    Future<Void> accepting = accept(listener, pool);
    loop.run(test(listener));
}

TEST_CASE("hand over: bytes that have come and were not read are read on the other side") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Pair pair = co_await makePairAt(Address(0x7F000001, 0));
        co_await pair.client->write("abcdef"_sr);
        Bytes ab = co_await pair.server->readExactly(2);
        CHECK(ab == "ab"_sr);
        CHECK(pair.server->bufferedBytes() == 4);
        DetachedConnection detached(pair.server);
        Error closed = co_await endOf(keep(pair.server->read()));
        CHECK(closed == operation_obsolete());
        Reference<Connection> server = detached.attach();
        CHECK(server->peerAddress() == pair.client->localAddress());
        co_await pair.client->write("gh"_sr);
        Bytes rest = co_await server->readExactly(6);
        CHECK(rest == "cdefgh"_sr);
    };
    loop.run(test());
}

TEST_CASE("hand over: one that is not attached is closed") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Pair pair = co_await makePairAt(Address(0x7F000001, 0));
        {
            DetachedConnection dropped(pair.server);
        }
        std::string rest = co_await readAll(pair.client);
        CHECK(rest.empty());
        CHECK_THROWS_AS(DetachedConnection(pair.server), Error);
    };
    loop.run(test());
}
