#include "net/postgres/connection.h"

#include "tests/net/postgres/postgres_support.h"

#include "flow/combine/all.h"

#include <string>
#include <tuple>

using namespace flow;
using namespace flow::test;
using postgres::Connection;

namespace {

struct Item {
    std::int64_t id;
    std::string name;
    std::optional<double> price;
};

} // namespace

TEST_CASE("postgres: queries with parameters give tuples, structs, single values and nothing") {
    withConnection([](Connection* db) -> Future<Void> {
        co_await db->execute("CREATE TEMP TABLE item (id bigint PRIMARY KEY, name text NOT NULL, price float8)");
        for (int round = 0; round < 2; ++round) // not prepared, and prepared
            for (int id = 1; id <= 3; ++id) {
                std::optional<double> price;
                if (id != 3)
                    price = 1.5 * id;
                std::uint64_t changed = co_await db->execute("INSERT INTO item VALUES ($1, $2, $3)", 10 * round + id,
                                                             "item" + std::to_string(id), price);
                CHECK(changed == 1);
            }
        auto rows = co_await db->query<std::tuple<int, std::string>>(
            "SELECT id, name FROM item WHERE price < $1 AND id < 10 ORDER BY id", 2);
        REQUIRE(rows.size() == 1);
        CHECK(rows[0] == std::tuple(1, "item1"));
        Item item = co_await db->one<Item>("SELECT * FROM item WHERE id = $1", 2);
        CHECK((item.id == 2 && item.name == "item2" && item.price == 3.0));
        std::optional<Item> third = co_await db->maybe<Item>("SELECT * FROM item WHERE id = $1", 3);
        REQUIRE(third);
        CHECK_FALSE(third->price);
        std::optional<Item> none = co_await db->maybe<Item>("SELECT * FROM item WHERE id = $1", 99);
        CHECK_FALSE(none);
        int count = co_await db->one<int>("SELECT count(*) FROM item");
        CHECK(count == 6);
        std::uint64_t deleted = co_await db->execute("DELETE FROM item WHERE id > $1", 10);
        CHECK(deleted == 3);
    });
}

TEST_CASE("postgres: errors have their code, the SQLSTATE and a sentence, and the connection goes on") {
    withConnection([](Connection* db) -> Future<Void> {
        co_await db->execute("CREATE TEMP TABLE t (id int PRIMARY KEY)");
        co_await db->execute("INSERT INTO t VALUES (1)");
        Error error = co_await errorIn(db->execute("INSERT INTO t VALUES ($1)", 1));
        CHECK(error.code() == postgres::error_code_unique_violation);
        CHECK(postgres::sqlState(error) == "23505");
        CHECK(std::string(error.what()) == "23505: duplicate key value violates unique constraint \"t_pkey\". Key "
                                           "(id)=(1) already exists.");
        error = co_await errorIn(db->execute("SELEC 1"));
        CHECK(error.code() == postgres::error_code_query_failed);
        CHECK(postgres::sqlState(error) == "42601");
        error = co_await errorIn(db->execute("SET statement_timeout = 1; "));
        CHECK_FALSE(error.isValid());
        error = co_await errorIn(db->execute("SELECT pg_sleep(10)"));
        CHECK(error.code() == postgres::error_code_query_cancelled);
        error = co_await errorIn(db->query<std::tuple<int, int>>("SELECT 1"));
        CHECK(error.code() == error_code_client_invalid_operation);
        error = co_await errorIn(db->one<int>("SELECT 1 WHERE false"));
        CHECK(std::string(error.what()) == "the query gives 0 rows; the call wants one");
        error = co_await errorIn(db->one<int>("SELECT $1::int", 1, 2));
        CHECK(std::string(error.what()) == "the query has 1 parameters; the call gives 2");
        error = co_await errorIn(db->one<int>("SELECT $1::int2", 70000));
        CHECK(std::string(error.what()) == "parameter 1 is 70000, which does not fit an int2");
        int one = co_await db->one<int>("SELECT 1");
        CHECK(one == 1);
    });
}

TEST_CASE("postgres: transactions commit, roll back, and hold others off") {
    withConnection([](Connection* db) -> Future<Void> {
        co_await db->execute("CREATE TEMP TABLE t (id int PRIMARY KEY)");
        Future<int> others;
        {
            postgres::Transaction change = co_await db->begin();
            co_await change.execute("INSERT INTO t VALUES (1)");
            others = db->one<int>("SELECT count(*) FROM t");
            co_await delay(0.01);
            CHECK_FALSE(others.isReady());
            co_await change.commit();
        }
        int count = co_await std::move(others);
        CHECK(count == 1);
        {
            postgres::Transaction change = co_await db->begin("ISOLATION LEVEL SERIALIZABLE");
            co_await change.execute("INSERT INTO t VALUES (2)");
        } // rolls back
        count = co_await db->one<int>("SELECT count(*) FROM t");
        CHECK(count == 1);
        {
            postgres::Transaction change = co_await db->begin();
            int code = co_await codeOf(change.execute("INSERT INTO t VALUES (1)"));
            CHECK(code == postgres::error_code_unique_violation);
            Error error = co_await errorIn(change.commit());
            CHECK(postgres::sqlState(error) == "25P02");
        }
        {
            postgres::Transaction change = co_await db->begin();
            co_await change.execute("INSERT INTO t VALUES (3)");
            co_await change.rollBack();
        }
        count = co_await db->one<int>("SELECT count(*) FROM t");
        CHECK(count == 1);
    });
}

TEST_CASE("postgres: tasks share a connection, and an error of one leaves the others alone") {
    withConnection([](Connection* db) -> Future<Void> {
        std::vector<Future<int>> answers;
        for (int i = 0; i < 200; ++i)
            answers.push_back(db->one<int>("SELECT 100 / $1::int4", i % 10));
        for (int i = 0; i < 200; ++i) {
            ErrorOr<int> answer = co_await coro::outcome(std::move(answers[i]));
            if (i % 10 == 0)
                CHECK(postgres::sqlState(answer.getError()) == "22012");
            else
                CHECK(answer.get() == 100 / (i % 10));
        }
    });
}

TEST_CASE("postgres: a script has several statements") {
    withConnection([](Connection* db) -> Future<Void> {
        co_await db->script("CREATE TEMP TABLE a (x int); INSERT INTO a VALUES (1), (2); SELECT * FROM a");
        int code = co_await codeOf(db->script("INSERT INTO a VALUES (3); SELECT 1 / 0"));
        CHECK(code == postgres::error_code_query_failed);
        int count = co_await db->one<int>("SELECT count(*) FROM a");
        CHECK(count == 2);
    });
}
