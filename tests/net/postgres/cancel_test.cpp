#include "flow/combine/all.h"
#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "net/postgres/pool.h"
#include "tests/flow/support/descriptors.h"
#include "tests/net/postgres/postgres_support.h"

#include <functional>
#include <string>

using namespace flow;
using namespace flow::test;
using postgres::Connection;

namespace {

/// How many queries with this text the server runs.
Future<int> countRunning(Connection* db, std::string text) {
    return db->one<int>("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE $1", text + "%");
}

/// Two rows, in a transaction with an error that it handles, and a stream.
Future<Void> insertTwo(Connection* db) {
    postgres::Transaction change = co_await db->begin();
    co_await change.execute("INSERT INTO pair VALUES ($1)", 1);
    auto rows = co_await change.stream<int>("SELECT generate_series(1, 3)");
    while (auto row = co_await rows.next()) {
    }
    co_await change.execute("SELECT pg_sleep(0.0005)");
    co_await change.execute("INSERT INTO pair VALUES ($1)", 2);
    co_await change.commit();
}

Future<Void> copyTwo(Connection* db) {
    postgres::CopyIn in = co_await db->copyIn("COPY pair FROM STDIN");
    co_await in.write("1\n2\n"_sr);
    co_await in.finish();
    postgres::CopyOut out = co_await db->copyOut("COPY pair TO STDOUT");
    while (auto line = co_await out.next()) {
    }
}

Future<Void> runTexts(Connection* db) {
    co_await db->script("INSERT INTO pair VALUES (1); INSERT INTO pair VALUES (2)");
    std::string fresh = "SELECT 1 -- " + std::to_string(deterministicRandom()->randomUInt64());
    auto both = co_await all(db->one<int>(fresh), db->one<int>(fresh)); // one waits for the other to prepare
    (void)both;
}

} // namespace

TEST_CASE("postgres: a dropped query is cancelled at the server, and the connection goes on") {
    withConnection([](Connection* db) -> Future<Void> {
        for (int i = 0; i < 3; ++i) {
            auto first = co_await race(db->execute("SELECT pg_sleep(1000)"), delay(0.01));
            CHECK(first.index() == 1);
            int one = co_await timeoutError(db->one<int>("SELECT 1"), 20.0);
            CHECK(one == 1);
        }
        int running = co_await countRunning(db, "SELECT pg_sleep");
        CHECK(running == 0);
    });
}

TEST_CASE("postgres: a query that is dropped among others runs to its end, and its answer is thrown away") {
    withConnection([](Connection* db) -> Future<Void> {
        Future<int> slow = db->one<int>("SELECT 5 FROM pg_sleep(0.05)");
        co_await delay(0.01);
        Future<int> behind = db->one<int>("SELECT 6");
        co_await delay(0.005);
        slow = Future<int>();
        int six = co_await std::move(behind);
        CHECK(six == 6);
        std::vector<Future<int>> dropped;
        for (int i = 0; i < 10; ++i) // all of them are cancelled, one by one
            dropped.push_back(db->one<int>("SELECT 7 FROM pg_sleep(1000)"));
        co_await delay(0.02);
        dropped.clear();
        int one = co_await timeoutError(db->one<int>("SELECT 1"), 20.0);
        CHECK(one == 1);
    });
}

TEST_CASE("postgres: the last handle is dropped with a query, which is cancelled before the loop ends") {
    withConnection([](Connection*) -> Future<Void> {
        Connection lost = co_await postgres::connect(serverUrl());
        Future<std::uint64_t> sleeping = lost.execute("SELECT pg_sleep(1001)");
        co_await delay(0.01);
        (void)sleeping;
    });
    withConnection([](Connection* db) -> Future<Void> {
        int running = co_await countRunning(db, "SELECT pg_sleep(1001)");
        CHECK(running == 0);
    });
}

TEST_CASE("postgres: a cancel at each suspension point leaves the connection and the table whole") {
    withConnection([](Connection* db) -> Future<Void> {
        co_await db->execute("CREATE TEMP TABLE pair (id int)");
        for (auto* work : {insertTwo, copyTwo, runTexts})
            for (int turns = 0; turns < 60; ++turns) {
                Future<Void> running = work(db);
                for (int i = 0; i < turns && !running.isReady(); ++i)
                    co_await delay(i % 4 == 3 ? 0.0003 : 0.0);
                running = Future<Void>();
                int rows = co_await timeoutError(db->one<int>("SELECT count(*) FROM pair"), 20.0);
                CHECK(rows % 2 == 0);
            }
        CHECK(db->isUsable());
    });
}

TEST_CASE("postgres: connect() is cancelled at each suspension point, and leaves no descriptor") {
    Balance balance;
    RealLoop loop;
    auto run = [&]() -> Future<Void> {
        {
            Connection first = co_await postgres::connect(serverUrl());
        }
        int before = openDescriptors();
        for (int turns = 0; turns < 40; ++turns) {
            Future<Connection> connecting = postgres::connect(serverUrl());
            for (int i = 0; i < turns && !connecting.isReady(); ++i)
                co_await delay(i % 4 == 3 ? 0.0005 : 0.0);
            connecting = Future<Connection>();
            CHECK(openDescriptors() == before);
        }
    };
    loop.run(run());
}
