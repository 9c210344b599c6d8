// Prepared statements, which a connection makes and keeps by itself; the spans of queries.

#include "flow/trace/tracer.h"
#include "net/postgres/connection.h"
#include "tests/net/postgres/postgres_support.h"

#include <string>

using namespace flow;
using namespace flow::test;
using postgres::Connection;

namespace {

struct Spans final : trace::SpanReceiver {
    void take(trace::SpanData&& span) noexcept override { all.push_back(std::move(span)); }
    std::vector<trace::SpanData> all;
};

std::string textOf(trace::SpanData const& span, std::string const& key) {
    for (trace::Attribute const& each : span.attributes)
        if (each.key == key)
            return std::get<std::string>(each.value);
    return "none";
}

} // namespace

TEST_CASE("postgres: a connection keeps a bounded number of prepared statements") {
    postgres::Options options;
    options.statements = 3;
    withConnection(
        [](Connection* db) -> Future<Void> {
            for (int round = 0; round < 3; ++round)
                for (int i = 0; i < 10; ++i) {
                    int answer = co_await db->one<int>("SELECT " + std::to_string(i) + " + $1::int", 1);
                    CHECK(answer == i + 1);
                }
            int kept = co_await db->one<int>("SELECT count(*) FROM pg_prepared_statements");
            CHECK(kept == 3);
            std::vector<Future<int>> answers; // more at the same time than are kept
            for (int i = 0; i < 20; ++i)
                answers.push_back(db->one<int>("SELECT " + std::to_string(i) + " * $1::int", 2));
            for (int i = 0; i < 20; ++i) {
                int answer = co_await std::move(answers[i]);
                CHECK(answer == 2 * i);
            }
            co_await db->execute("SELECT 1");
            kept = co_await db->one<int>("SELECT count(*) FROM pg_prepared_statements");
            CHECK(kept <= 4);
        },
        options);
}

TEST_CASE("postgres: a statement is prepared anew after its table has changed, and after DISCARD ALL") {
    withConnection([](Connection* db) -> Future<Void> {
        co_await db->execute("CREATE TEMP TABLE t (a int)");
        co_await db->execute("INSERT INTO t VALUES ($1)", 1);
        int one = co_await db->one<int>("SELECT * FROM t");
        CHECK(one == 1);
        co_await db->execute("ALTER TABLE t ALTER a TYPE bigint");
        Error error = co_await errorIn(db->one<int>("SELECT * FROM t"));
        CHECK(postgres::sqlState(error) == "0A000");
        one = co_await db->one<int>("SELECT * FROM t");
        CHECK(one == 1);
        co_await db->script("DEALLOCATE ALL");
        error = co_await errorIn(db->one<int>("SELECT * FROM t"));
        CHECK(postgres::sqlState(error) == "26000");
        one = co_await db->one<int>("SELECT * FROM t");
        CHECK(one == 1);
    });
}

TEST_CASE("postgres: a query is a span of its request's trace") {
    Spans spans;
    trace::Tracer tracer(spans);
    withConnection([&tracer](Connection* db) -> Future<Void> {
        trace::Span request = tracer.begin("request");
        RequestContext here = request.context();
        co_await db->execute(postgres::Sql("SELECT 1", here));
        int code = co_await codeOf(db->execute(postgres::Sql("SELECT 1 / 0", here)));
        CHECK(code == postgres::error_code_query_failed);
        auto rows = co_await db->stream<int>(postgres::Sql("SELECT 7", here));
        while (auto row = co_await rows.next())
            CHECK(*row == 7);
        co_await db->execute("SELECT 2"); // not a part of it
    });
    REQUIRE(spans.all.size() == 4);
    for (int i = 0; i < 3; ++i) {
        CHECK((spans.all[i].name == "SELECT" && spans.all[i].kind == trace::SpanKind::Client));
        CHECK(spans.all[i].parentId == spans.all[3].context.spanId);
        CHECK(textOf(spans.all[i], "db.system.name") == "postgresql");
    }
    CHECK(textOf(spans.all[0], "db.query.text") == "SELECT 1");
    CHECK(spans.all[0].status == trace::SpanStatus::Unset);
    CHECK(spans.all[1].status == trace::SpanStatus::Error);
}
