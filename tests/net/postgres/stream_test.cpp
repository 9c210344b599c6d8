#include "net/postgres/stream.h"

#include "flow/combine/race.h"
#include "flow/combine/timeout.h"
#include "net/postgres/connection.h"
#include "tests/net/postgres/postgres_support.h"

#include <string>

using namespace flow;
using namespace flow::test;
using postgres::Connection;

TEST_CASE("postgres: rows come as a stream, and others wait for its end") {
    withConnection([](Connection* db) -> Future<Void> {
        auto rows = co_await db->stream<std::tuple<int, std::string>>(
            "SELECT i, repeat('x', 100) FROM generate_series(1, $1::int) i", 1000);
        Future<int> other = db->one<int>("SELECT 7");
        int count = 0;
        while (auto row = co_await rows.next()) {
            CHECK(std::get<0>(*row) == ++count);
            if (count == 500)
                CHECK_FALSE(other.isReady());
        }
        CHECK(count == 1000);
        auto again = co_await rows.next();
        CHECK_FALSE(again);
        int seven = co_await std::move(other);
        CHECK(seven == 7);
    });
}

TEST_CASE("postgres: a stream ends with the server's error after the rows before it") {
    withConnection([](Connection* db) -> Future<Void> {
        auto rows = co_await db->stream<int>("SELECT 10 / (5 - i) FROM generate_series(1, 9) i");
        int count = 0;
        Error error;
        try {
            while (auto row = co_await rows.next())
                ++count;
        } catch (Error& caught) {
            error = caught;
        }
        CHECK(count == 4);
        CHECK(postgres::sqlState(error) == "22012");
        auto wrong = co_await errorIn(db->stream<int>("SELECT 1, 2"));
        CHECK(wrong.code() == error_code_client_invalid_operation);
        auto syntax = co_await errorIn(db->stream<int>("SELEC"));
        CHECK(postgres::sqlState(syntax) == "42601");
    });
}

TEST_CASE("postgres: a stream that is dropped is cancelled at the server; a transaction refuses queries beside one") {
    withConnection([](Connection* db) -> Future<Void> {
        {
            auto rows = co_await db->stream<std::int64_t>("SELECT generate_series(1, 1000000000000)");
            auto first = co_await rows.next();
            CHECK(first == 1);
        }
        int one = co_await timeoutError(db->one<int>("SELECT 1"), 20.0);
        CHECK(one == 1);
        postgres::Transaction change = co_await db->begin();
        {
            auto rows = co_await change.stream<int>("SELECT i FROM generate_series(1, 100000) i");
            auto first = co_await race(rows.next(), delay(20.0));
            CHECK(first.index() == 0);
            int code = co_await codeOf(change.execute("SELECT 1"));
            CHECK(code == error_code_client_invalid_operation);
            while (auto row = co_await rows.next()) {
            }
        }
        one = co_await change.one<int>("SELECT 1");
        CHECK(one == 1);
        co_await change.commit();
    });
}

TEST_CASE("postgres: COPY goes both ways") {
    withConnection([](Connection* db) -> Future<Void> {
        co_await db->execute("CREATE TEMP TABLE t (id int, name text)");
        {
            postgres::CopyIn in = co_await db->copyIn("COPY t FROM STDIN");
            std::string rows;
            for (int i = 0; i < 20000; ++i)
                rows += std::to_string(i) + "\tname of " + std::to_string(i) + "\n";
            for (std::size_t at = 0; at < rows.size(); at += 10000) // rows are cut
                co_await in.write(StringRef(std::string_view(rows).substr(at, 10000)));
            std::uint64_t count = co_await in.finish();
            CHECK(count == 20000);
        }
        {
            postgres::CopyOut out = co_await db->copyOut("COPY (SELECT * FROM t ORDER BY id) TO STDOUT (FORMAT csv)");
            int count = 0;
            while (auto line = co_await out.next()) {
                if (count == 7)
                    CHECK(line->toString() == "7,name of 7\n");
                ++count;
            }
            CHECK(count == 20000);
        }
        {
            postgres::CopyIn in = co_await db->copyIn("COPY t FROM STDIN");
            co_await in.write("99999\tdropped\n"_sr);
        }
        int found = co_await db->one<int>("SELECT count(*) FROM t WHERE id = 99999");
        CHECK(found == 0);
        {
            postgres::CopyIn in = co_await db->copyIn("COPY t FROM STDIN");
            co_await in.write("no number\tx\n"_sr);
            co_await delay(0.02); // the error has arrived
            Error error = co_await errorIn(in.finish());
            CHECK(postgres::sqlState(error) == "22P02");
        }
        {
            postgres::CopyOut out = co_await db->copyOut("COPY t TO STDOUT");
            auto first = co_await out.next();
            CHECK(first);
        } // dropped
        Error wrong = co_await errorIn(db->copyIn("SELECT 1"));
        CHECK(std::string(wrong.what()) == "copyIn() wants a statement COPY ... FROM STDIN");
        wrong = co_await errorIn(db->copyIn("COPY t TO STDOUT"));
        CHECK(wrong.code() == error_code_client_invalid_operation);
        wrong = co_await errorIn(db->script("COPY t FROM STDIN"));
        CHECK(wrong.code() != error_code_connection_failed);
        for (char const* sql : {"COPY t FROM STDIN", "COPY t TO STDOUT"}) { // by the wrong call
            Future<Error> refused = errorIn(db->execute(sql));
            wrong = co_await timeoutError(std::move(refused), 20.0);
            CHECK(wrong.isValid() == (sql[7] == 'F'));
        }
        found = co_await db->one<int>("SELECT count(*) FROM t");
        CHECK(found == 20000);
    });
}

TEST_CASE("postgres: notifications come as a stream beside queries") {
    withConnection([](Connection* db) -> Future<Void> {
        postgres::Notifications news = co_await db->listen("Some \"channel\"");
        postgres::Notifications others = co_await db->listen("others");
        co_await db->execute("SELECT pg_notify($1, $2)", "Some \"channel\"", "one");
        co_await db->execute("SELECT pg_notify($1, $2)", "Some \"channel\"", "two");
        postgres::Notification first = co_await news.next();
        CHECK((first.payload == "one" && first.channel == "Some \"channel\"" && first.process == db->process()));
        postgres::Notification second = co_await news.next();
        CHECK(second.payload == "two");
        auto none = co_await race(others.next(), news.next(), delay(0.01));
        CHECK(none.index() == 2);
        postgres::Connection sender = co_await postgres::connect(serverUrl());
        Future<postgres::Notification> waiting = keep(others.next());
        co_await sender.execute("NOTIFY others, 'three'");
        postgres::Notification third = co_await timeoutError(std::move(waiting), 20.0);
        CHECK((third.payload == "three" && third.process == sender.process()));
        co_await sender.execute("SELECT pg_notify('others', i::text) FROM generate_series(1, 2000) i");
        co_await db->execute("SELECT 1");
        int count = 0;
        int code = 0;
        while (code == 0) {
            code = co_await codeOf(keep(others.next()));
            count += code == 0;
        }
        CHECK((code == postgres::error_code_query_failed && count == 1000));
    });
}
