#include "net/postgres/pool.h"

#include "flow/combine/race.h"
#include "flow/combine/retry.h"
#include "flow/combine/timeout.h"
#include "flow/tasks/scope.h"
#include "tests/net/postgres/postgres_support.h"

#include <set>

using namespace flow;
using namespace flow::test;

namespace {

template <class Test>
void withPool(postgres::PoolOptions options, Test test) {
    Balance balance;
    RealLoop loop;
    auto run = [](Test* body, postgres::PoolOptions given) -> Future<Void> {
        postgres::Pool pool(serverUrl(), given);
        co_await (*body)(&pool);
    };
    loop.run(run(&test, options));
}

Future<int> processOf(postgres::Pool* pool) {
    return pool->one<int>("SELECT pg_backend_pid()");
}

/// Moves one from row 1 to row 2, as two that run at the same time cannot.
Future<Void> move(postgres::Pool* pool) {
    postgres::Transaction change = co_await pool->begin("ISOLATION LEVEL SERIALIZABLE");
    int amount = co_await change.one<int>("SELECT amount FROM account WHERE id = 1");
    co_await change.execute("UPDATE account SET amount = $1 WHERE id = 1", amount - 1);
    co_await change.execute("UPDATE account SET amount = amount + 1 WHERE id = 2");
    co_await change.commit();
}

} // namespace

TEST_CASE("postgres pool: many callers share a few connections") {
    withPool({.most = 3}, [](postgres::Pool* pool) -> Future<Void> {
        std::vector<Future<int>> processes;
        for (int i = 0; i < 20; ++i)
            processes.push_back(processOf(pool));
        std::set<int> different;
        for (Future<int>& each : processes)
            different.insert(co_await std::move(each));
        CHECK(different.size() == 3);
        auto rows = co_await pool->stream<int>("SELECT generate_series(1, 100)");
        int sum = 0;
        while (auto row = co_await rows.next())
            sum += *row;
        CHECK(sum == 5050);
    });
}

TEST_CASE("postgres pool: dropped queries and transactions give their connection back when it is clean") {
    withPool({.most = 1}, [](postgres::Pool* pool) -> Future<Void> {
        int process = co_await processOf(pool);
        auto first = co_await race(pool->execute("SELECT pg_sleep(1000)"), delay(0.01));
        CHECK(first.index() == 1);
        int again = co_await timeoutError(processOf(pool), 20.0);
        CHECK(again == process);
        {
            postgres::Connection connection = co_await pool->acquire();
            co_await connection.execute("CREATE TEMP TABLE t (id int)");
            postgres::Transaction change = co_await connection.begin();
            co_await change.execute("INSERT INTO t VALUES (1)");
            auto sleep = co_await race(change.execute("SELECT pg_sleep(1000)"), delay(0.01));
            CHECK(sleep.index() == 1);
        }
        int count = co_await timeoutError(pool->one<int>("SELECT count(*) FROM t"), 20.0);
        CHECK(count == 0);
        {
            postgres::Connection connection = co_await pool->acquire();
            co_await connection.execute("BEGIN"); // by hand, and not ended
            co_await connection.execute("INSERT INTO t VALUES (1)");
        }
        count = co_await timeoutError(pool->one<int>("SELECT count(*) FROM t"), 20.0);
        CHECK(count == 0);
        {
            auto rows = co_await pool->stream<std::int64_t>("SELECT generate_series(1, 1000000000000)");
            auto row = co_await rows.next();
            CHECK(row == 1);
        }
        again = co_await timeoutError(processOf(pool), 20.0);
        CHECK(again == process);
    });
}

TEST_CASE("postgres pool: a connection that the server has ended is replaced") {
    withPool({.most = 2}, [](postgres::Pool* pool) -> Future<Void> {
        int process = co_await processOf(pool);
        {
            postgres::Connection other = co_await pool->acquire();
            postgres::Connection killer = co_await pool->acquire();
            co_await killer.execute("SELECT pg_terminate_backend($1)", other.process());
            while (other.isUsable())
                co_await delay(0.001);
            Error error = co_await errorIn(other.execute("SELECT 1"));
            CHECK(error.code() == error_code_connection_failed);
        }
        co_await pool->execute("SELECT 1");
        int again = co_await processOf(pool);
        CHECK((again != 0 && process != 0));
        pool->close();
        int code = co_await codeOf(pool->execute("SELECT 1"));
        CHECK(code == error_code_operation_obsolete);
    });
    CHECK_THROWS_AS(postgres::Pool("", {.most = 0}), Error);
}

TEST_CASE("postgres pool: transactions that cannot be serialized run again") {
    withPool({.most = 4}, [](postgres::Pool* pool) -> Future<Void> {
        co_await pool->execute("DROP TABLE IF EXISTS account");
        co_await pool->execute("CREATE TABLE account (id int PRIMARY KEY, amount int)");
        co_await pool->execute("INSERT INTO account VALUES (1, 100), (2, 0)");
        Scope movers;
        for (int i = 0; i < 10; ++i) {
            RetryPolicy policy{.attempts = 100, .backoff = 0.001, .longest = 0.01, .retries = postgres::mayRunAgain};
            movers.spawn(retry(policy, [pool] { return move(pool); }));
        }
        co_await movers.join();
        int moved = co_await pool->one<int>("SELECT amount FROM account WHERE id = 2");
        CHECK(moved == 10);
        co_await pool->execute("DROP TABLE account");
    });
}
