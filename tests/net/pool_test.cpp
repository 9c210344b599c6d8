#include "net/pool.h"

#include "flow/core/error_or.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "net/serve.h"
#include "net/testing/connection_pair.h"
#include "net/transport.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/pending_text.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace pool_test {
namespace {

using Lease = Pool<>::Lease;

/// Makes connections, one per second, and has their other ends.
struct Server {
    std::vector<Reference<Connection>> ends;
    Error error; // of the next connection

    static Future<Reference<Connection>> make(Server* self) {
        co_await delay(1);
        if (Error error = std::exchange(self->error, Error()); error.isValid())
            throw error;
        ConnectionPair pair = connectionPair();
        self->ends.push_back(pair.second);
        co_return pair.first;
    }
    Pool<>::Make maker() {
        return [this] { return make(this); };
    }
    /// True if the other side has closed or reset the connection.
    bool isGone(std::size_t number) { return ends[number]->read().isReady(); }
};

void simulated(Future<Void> (*test)()) {
    SimLoop loop;
    Balance balance;
    loop.run(test());
}

Future<Void> use(Pool<>* pool, int number, std::vector<int>* order) {
    Lease lease = co_await pool->acquire();
    order->push_back(number);
    co_await lease->write("x"_sr);
    co_await delay(1);
    lease.giveBack();
}

Future<Void> fail(Pool<>* pool) {
    Lease lease = co_await pool->acquire();
    co_await lease->write("half"_sr);
    throw io_error();
}

} // namespace

TEST_CASE("pool: a connection is used again, the one that was given back last") {
    simulated([]() -> Future<Void> {
        Server server;
        Pool<> pool(server.maker());
        Lease first = co_await pool.acquire();
        CHECK(now() == 1);
        Lease second = co_await pool.acquire();
        Connection* last = second.connection().getPtr();
        co_await first->write("x"_sr);
        first.giveBack();
        second.giveBack();
        CHECK(pool.idle() == 2);
        Lease third = co_await pool.acquire();
        CHECK(third.connection().getPtr() == last);
        CHECK(now() == 2);
        CHECK(server.ends.size() == 2);
        CHECK(pool.idle() == 1);
        third = co_await pool.acquire(); // what it had is dropped
        CHECK(server.isGone(1));
        third.giveBack();
    });
}

TEST_CASE("pool: is bounded, serves its waiters in order, and limits their number") {
    simulated([]() -> Future<Void> {
        Server server;
        Pool<> pool(server.maker(), {.most = 2, .waiters = 4});
        std::vector<int> order;
        std::vector<Future<Void>> users;
        for (int i = 0; i < 6; ++i)
            users.push_back(use(&pool, i, &order));
        Future<Lease> tooMany = pool.acquire();
        CHECK(tooMany.isError());
        CHECK(tooMany.getError() == operation_failed());
        CHECK(std::string(tooMany.getError().what()) ==
              "Pool: all 2 connections are in use, and 4 callers wait for one, the most that may wait");
        users[3] = Future<Void>(); // one that waits gives up
        for (int i : {0, 1, 2, 4, 5})
            co_await users[static_cast<std::size_t>(i)];
        CHECK(order == std::vector<int>{0, 1, 2, 4, 5});
        CHECK(now() == 4);
        CHECK(server.ends.size() == 2);
    });
}

TEST_CASE("pool: a lease that ends without giveBack() resets its connection, also by an error or a cancel") {
    simulated([]() -> Future<Void> {
        Server server;
        Pool<> pool(server.maker(), {.most = 1});
        Error error = co_await endOf(fail(&pool));
        CHECK(error == io_error());
        std::vector<int> order;
        Future<Void> cancelled = use(&pool, 0, &order);
        co_await delay(1.5);
        cancelled.cancel();
        for (std::size_t i : {0, 1}) {
            error = co_await endOf(keep(server.ends[i]->read()));
            CHECK(error == connection_reset());
        }
        CHECK(pool.idle() == 0);
        Future<Lease> dropped = pool.acquire(); // nothing has used it
        co_await delay(1.5);
        CHECK(dropped.isReady());
        dropped = Future<Lease>();
        CHECK(pool.idle() == 1);
        CHECK(!server.isGone(2));
    });
}

TEST_CASE("pool: an acquire() that is cancelled at any step takes nothing") {
    int made = 0;
    for (int step = 0; step < 30; ++step) {
        INFO(step);
        SimLoop loop;
        Balance balance;
        auto test = [](int steps) -> Future<std::size_t> {
            Server server;
            Pool<> pool(server.maker(), {.most = 1});
            std::vector<int> order;
            Future<Void> holder = steps % 2 == 0 ? use(&pool, 0, &order) : fail(&pool); // kept or dropped after it
            Future<Lease> cut = pool.acquire(), next = pool.acquire();
            for (int i = 0; i < steps; ++i)
                co_await delay(i % 2 * 0.2);
            cut = Future<Lease>();
            Lease last = co_await next;
            last.giveBack();
            CHECK(pool.idle() == 1);
            CHECK(server.ends.size() <= 3);
            (void)co_await tryGet(std::move(holder));
            co_return server.ends.size();
        };
        made += static_cast<int>(loop.run(test(step)));
    }
    CHECK(made > 40); // in some runs the holder's, the cancelled one and the last one
}

TEST_CASE("pool: a kept connection on which something has come is not used, nor one that isHealthy() refuses") {
    simulated([]() -> Future<Void> {
        Server server;
        int asked = 0;
        Pool<> pool(server.maker());
        Pool<> refusing(server.maker(), {.isHealthy = [&](Connection&) { return ++asked > 1; }});
        for (int what = 0; what < 4; ++what) {
            Lease lease = co_await pool.acquire();
            CHECK(server.ends.size() == static_cast<std::size_t>(what + 1));
            Reference<Connection> end = server.ends.back();
            lease.giveBack();
            if (what == 0)
                co_await end->write("late"_sr);
            else if (what == 1)
                end->shutdownWrite();
            else if (what == 2)
                end->abort();
        }
        CHECK(pool.idle() == 1);
        Lease one = co_await refusing.acquire();
        one.giveBack();
        one = co_await refusing.acquire();
        CHECK(server.ends.size() == 6);
        CHECK(server.isGone(4));
        one.giveBack();
        one = co_await refusing.acquire();
        CHECK(server.ends.size() == 6);
    });
}

TEST_CASE("pool: kept connections are closed after the idle time") {
    simulated([]() -> Future<Void> {
        Server server;
        Pool<> pool(server.maker(), {.idle = 10});
        Lease first = co_await pool.acquire(), second = co_await pool.acquire();
        first.giveBack();
        co_await delay(5);
        second.giveBack();
        co_await delay(4.9);
        CHECK(pool.idle() == 2);
        co_await delay(0.2);
        CHECK(pool.idle() == 1);
        CHECK(server.isGone(0));
        Lease third = co_await pool.acquire();
        co_await delay(20);
        third.giveBack();
        co_await delay(9.9);
        CHECK(pool.idle() == 1);
        CHECK(server.ends.size() == 2);
        co_await delay(0.2);
        CHECK(pool.idle() == 0);
        CHECK(server.isGone(1));
        Bytes end = co_await server.ends[1]->read();
        CHECK(end.empty()); // not a reset
    });
}

TEST_CASE("pool: a warm start, and an error of make() that leaves the place free") {
    simulated([]() -> Future<Void> {
        Server server;
        Pool<> pool(server.maker(), {.most = 3, .warm = 3});
        Lease first = co_await pool.acquire();
        CHECK(now() == 1);
        co_await delay(0);
        CHECK(server.ends.size() == 3);
        CHECK(pool.idle() == 2);

        Pool<> other(server.maker(), {.most = 1});
        server.error = connection_refused();
        Future<Lease> failing = other.acquire(), next = other.acquire();
        Error error = co_await endOf(std::move(failing));
        CHECK(error == connection_refused());
        Lease lease = co_await next;
        CHECK(server.ends.size() == 4);
    });
}

TEST_CASE("pool: close() fails the waiters and those for which a connection is made, and keeps nothing more") {
    simulated([]() -> Future<Void> {
        Server server;
        auto pool = std::make_unique<Pool<>>(server.maker(), PoolOptions<Connection>{.most = 2});
        Lease first = co_await pool->acquire();
        Future<Lease> made = pool->acquire(), waiting = pool->acquire();
        first->write("x"_sr);
        pool->close();
        pool->close();
        for (Future<Lease>* each : {&made, &waiting}) {
            Error error = co_await endOf(std::move(*each));
            CHECK(error == operation_obsolete());
            CHECK(std::string(error.what()) == "the Pool is closed");
        }
        Error error = co_await endOf(pool->acquire());
        CHECK(error == operation_obsolete());
        pool.reset(); // a Lease outlives it
        CHECK(server.ends.size() == 1);
        co_await first->write("y"_sr);
        first.giveBack();
        std::string all = co_await readAll(server.ends[0]);
        CHECK(all == "xy");
    });
    simulated([]() -> Future<Void> {
        Server server;
        Future<Lease> waiting;
        {
            Pool<> pool(server.maker(), {.most = 2, .warm = 2});
            waiting = pool.acquire();
        }
        Error error = co_await endOf(std::move(waiting));
        CHECK(error == operation_obsolete());
        co_await delay(2);
        CHECK(server.ends.empty());
    });
}

TEST_CASE("pool: acquireNew() makes a connection, within the bound, and close() of a Lease closes it in order") {
    simulated([]() -> Future<Void> {
        Server server;
        Pool<> pool(server.maker(), {.most = 2});
        CHECK(pool.isUnused());
        Lease first = co_await pool.acquire(), second = co_await pool.acquire();
        CHECK(!pool.isUnused());
        first.giveBack();
        second.giveBack();
        CHECK(!pool.isUnused());
        Future<Lease> making = pool.acquireNew();
        CHECK(pool.idle() == 1); // the oldest was closed
        CHECK(server.isGone(0));
        CHECK(!server.isGone(1));
        Lease third = co_await std::move(making);
        CHECK(server.ends.size() == 3);
        co_await third->write("x"_sr);
        third.close();
        std::string all = co_await readAll(server.ends[2]);
        CHECK(all == "x");
        Lease last = co_await pool.acquire();
        CHECK(server.ends.size() == 3);
        last.close();
        CHECK(pool.isUnused());
        making = pool.acquire();
        CHECK(!pool.isUnused());
        making = Future<Lease>();
        CHECK(pool.isUnused());
    });
}

TEST_CASE("pool: of objects that are no connections") {
    struct Session : ReferenceCounted<Session> {
        bool isGood = true;
    };
    SimLoop loop;
    Balance balance;
    auto test = []() -> Future<Void> {
        int made = 0;
        Pool<Session> pool(
            [&] {
                ++made;
                return Future<Reference<Session>>(makeReference<Session>());
            },
            {.isHealthy = [](Session& session) { return session.isGood; }});
        for (int i = 0; i < 4; ++i) {
            Pool<Session>::Lease lease = co_await pool.acquire();
            lease->isGood = i != 1;
            lease.giveBack();
        }
        CHECK(made == 2);
    };
    loop.run(test());
}

TEST_CASE("pool: the destructor of a connection may close or destroy the pool, in each place that drops it") {
    struct Plain : ReferenceCounted<Plain> {
        explicit Plain(std::function<void()>* end) : atEnd(end) {}
        ~Plain() {
            if (*atEnd)
                std::exchange(*atEnd, nullptr)();
        }
        std::function<void()>* atEnd; // of the first connection that ends
    };
    enum class Drop { Idle, Close, New };
    for (Drop drop : {Drop::Idle, Drop::Close, Drop::New})
        for (bool destroys : {false, true}) {
            SimLoop loop;
            Balance balance;
            std::function<void()> atEnd;
            auto make = [&] { return Future<Reference<Plain>>(makeReference<Plain>(&atEnd)); };
            auto pool = std::make_unique<Pool<Plain>>(make, PoolOptions<Plain>{.most = 3, .idle = 5});
            auto keepThree = [](Pool<Plain>* each) -> Future<Void> {
                Pool<Plain>::Lease a = co_await each->acquire();
                Pool<Plain>::Lease b = co_await each->acquire();
                Pool<Plain>::Lease c = co_await each->acquire();
            };
            loop.run(keepThree(pool.get()));
            CHECK(pool->idle() == 3);
            atEnd = [&] { destroys ? pool.reset() : pool->close(); };
            Future<Pool<Plain>::Lease> taken;
            if (drop == Drop::Close)
                pool->close();
            else if (drop == Drop::New)
                taken = pool->acquireNew();
            loop.run(delay(10));
            CHECK_FALSE(atEnd);
            if (drop == Drop::New)
                CHECK(taken.isError()); // no Lease of a pool that is closed
            taken = {};
            CHECK((pool == nullptr) == destroys);
            if (pool)
                CHECK(pool->isUnused());
        }
}

TEST_CASE("pool: wrong options name the option and the rule, and a Lease is not used after giveBack()") {
    SimLoop loop;
    Server server;
    auto textOf = [&](PoolOptions<Connection> options) -> std::string {
        try {
            Pool<> pool(server.maker(), options);
        } catch (Error& error) {
            CHECK(error == invalid_option_value());
            return error.what();
        }
        return "";
    };
    CHECK(textOf({.most = 0}) == "PoolOptions: most is 0; it must be at least 1");
    CHECK(textOf({.most = 2, .warm = 3}) == "PoolOptions: warm is 3; it must be at most `most`");
    CHECK(textOf({.idle = 0}) == "PoolOptions: idle is 0; it must be more than 0");
    CHECK(textOf({.isHealthy = nullptr}) == "PoolOptions: isHealthy is null; it must be a function");
    auto useLate = [](Server* at) -> Future<Void> {
        Pool<> pool(at->maker());
        Lease lease = co_await pool.acquire();
        lease.giveBack();
        lease->close();
    };
    CHECK_DIES(loop.run(useLate(&server)), "a Lease is used after giveBack()");
    auto giveTwice = [](Server* at) -> Future<Void> {
        Pool<> pool(at->maker());
        Lease lease = co_await pool.acquire();
        lease.giveBack();
        lease.giveBack();
    };
    CHECK_DIES(loop.run(giveTwice(&server)), "pool_test.cpp");
    auto makeNull = [] { return Future<Reference<Connection>>(Reference<Connection>()); };
    CHECK_NAMES_CALLER(Pool<> pool(makeNull); (void)pool.acquire());
    CHECK_NAMES_CALLER(Pool<> pool([] { return Future<Reference<Connection>>(); }); (void)pool.acquire());
    CHECK_NAMES_CALLER(Pool<> pool(Pool<>::Make{}));
}

TEST_CASE("pool: on the real network, a connection that the server has closed is not used again") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        Address to = listener->localAddress();
        Pool<> pool([to] { return transport().connect(to); }, {.most = 1, .warm = 1});
        Reference<Connection> gone = co_await listener->accept();
        Address first = gone->peerAddress();
        gone->close();
        for (bool isNew = false; !isNew;) { // until the end has come
            co_await delay(0.001);
            Lease lease = co_await pool.acquire();
            isNew = lease.connection()->localAddress() != first;
            lease.giveBack();
        }
        Reference<Connection> second = co_await listener->accept();
        Lease lease = co_await pool.acquire();
        CHECK(second->peerAddress() == lease.connection()->localAddress());
    };
    loop.run(test());
}

TEST_CASE("pool: a report shows the name of the pool for which a caller waits") {
    simulated([]() -> Future<Void> {
        Server server;
        Pool<> pool(server.maker(), {.most = 1, .name = "database"});
        Lease first = co_await pool.acquire();
        Future<Lease> second = pool.acquire();
        std::string text = pendingText();
        INFO(text);
        CHECK(has(text, "waits for a permit of a Semaphore \"database\", held by "));
    });
}

} // namespace pool_test
