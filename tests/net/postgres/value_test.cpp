#include "net/postgres/value.h"

#include "net/postgres/connection.h"
#include "tests/net/postgres/postgres_support.h"

#include <cmath>
#include <limits>

using namespace flow;
using namespace flow::test;
using flow::net::Bytes;
using postgres::Connection;
using postgres::Timestamp;

namespace {

struct Money {
    std::int64_t cents = 0;
    friend bool operator==(Money const&, Money const&) = default;
};

struct Wide {
    bool flag;
    std::int16_t small;
    int medium;
    std::int64_t large;
    float single;
    double exact;
    std::string text;
    Bytes bytes;
    Timestamp time;
    UID id;
    std::string json, jsonb;
    std::optional<int> none;
};

constexpr char kWide[] = "SELECT $1::bool, $2::int2, $3::int4, $4::int8, $5::float4, $6::float8, $7::text, $8::bytea, "
                         "$9::timestamptz, $10::uuid, $11::json, $12::jsonb, $13::int4";

template <class T>
Future<T> echo(Connection* db, char const* type, T value) {
    return db->one<T>(std::string("SELECT $1::") + type, value);
}

} // namespace

template <>
struct flow::net::postgres::TypeOf<Money> {
    static Money read(Field const& field) { return {std::llround(field.get<double>() * 100)}; }
    static Parameter write(Money const& money) { return std::to_string(double(money.cents) / 100); }
};

TEST_CASE("postgres: each type goes to the server and back, in binary and as text") {
    withConnection([](Connection* db) -> Future<Void> {
        using namespace std::chrono;
        Timestamp time = sys_days(year(2026) / November / 30) + hours(11) + microseconds(123456);
        UID id(0x0123456789abcdef, 0xfedcba9876543210);
        Bytes bytes = StringRef(std::string_view("\0\xff\x01", 3));
        for (char const* more : {"", ", 12.50::numeric"}) { // with a numeric all columns come as text
            auto check = [&](Wide const& wide) {
                CHECK((wide.flag && wide.small == -7 && wide.medium == 1 << 30 && wide.large == -(1LL << 60)));
                CHECK((wide.single == 0.1f && wide.exact == 0.1 && wide.text == "käse\n" && wide.bytes == bytes));
                CHECK((wide.time == time && wide.id == id && wide.json == "{\"a\": 1}" && wide.jsonb == "{\"a\": 1}"));
                CHECK_FALSE(wide.none);
            };
            std::string sql = std::string(kWide) + more;
            std::optional<int> none;
            if (*more) {
                std::vector<postgres::Parameter> given{true,
                                                       std::int64_t(-7),
                                                       std::int64_t(1 << 30),
                                                       -std::int64_t(1LL << 60),
                                                       0.1,
                                                       0.1,
                                                       "käse\n",
                                                       bytes,
                                                       time,
                                                       id,
                                                       "{\"a\": 1}",
                                                       "{\"a\": 1}",
                                                       nullptr};
                postgres::Result answer = co_await db->run(sql, given);
                Wide wide{answer.field(0, 0).get<bool>(),
                          answer.field(0, 1).get<std::int16_t>(),
                          answer.field(0, 2).get<int>(),
                          answer.field(0, 3).get<std::int64_t>(),
                          answer.field(0, 4).get<float>(),
                          answer.field(0, 5).get<double>(),
                          answer.field(0, 6).get<std::string>(),
                          answer.field(0, 7).get<Bytes>(),
                          answer.field(0, 8).get<Timestamp>(),
                          answer.field(0, 9).get<UID>(),
                          answer.field(0, 10).get<std::string>(),
                          answer.field(0, 11).get<std::string>(),
                          answer.field(0, 12).get<std::optional<int>>()};
                check(wide);
                CHECK(answer.field(0, 13).get<Money>() == Money{1250});
                CHECK(answer.field(0, 13).get<std::string>() == "12.50");
            } else {
                Wide wide = co_await db->one<Wide>(sql, true, -7, 1 << 30, -(1LL << 60), 0.1f, 0.1, "käse\n", bytes,
                                                   time, id, "{\"a\": 1}", "{\"a\": 1}", none);
                check(wide);
            }
        }
    });
}

TEST_CASE("postgres: limits of numbers, times and texts") {
    withConnection([](Connection* db) -> Future<Void> {
        std::int64_t most = co_await echo(db, "int8", std::numeric_limits<std::int64_t>::max());
        CHECK(most == std::numeric_limits<std::int64_t>::max());
        std::uint64_t huge = ~std::uint64_t(0);
        std::string text = co_await db->one<std::string>("SELECT $1::numeric", huge);
        CHECK(text == "18446744073709551615");
        double nan = co_await echo(db, "float8", std::numeric_limits<double>::quiet_NaN());
        CHECK(std::isnan(nan));
        for (Timestamp time :
             {Timestamp::max(), Timestamp::min(), Timestamp(), Timestamp(std::chrono::microseconds(-1))}) {
            Timestamp binary = co_await echo(db, "timestamptz", time);
            CHECK(binary == time);
            auto both = co_await db->one<std::tuple<Timestamp, double>>("SELECT $1::timestamptz, 1.5::numeric", time);
            CHECK(std::get<0>(both) == time);
        }
        co_await db->execute("SET TimeZone = 'Asia/Kolkata'"); // +05:30
        auto there = co_await db->one<std::tuple<Timestamp, std::string>>(
            "SELECT '2026-11-30 12:00:00.5+00'::timestamptz, 1::numeric");
        CHECK(std::get<0>(there).time_since_epoch() == std::chrono::milliseconds(1796040000500));
        text = co_await echo(db, "text", std::string());
        CHECK(text.empty());
        Money money = co_await echo(db, "numeric", Money{1999});
        CHECK(money == Money{1999});
        std::optional<Money> noMoney = co_await echo(db, "numeric", std::optional<Money>());
        CHECK_FALSE(noMoney);
    });
}

TEST_CASE("postgres: a value that does not fit its C++ type says which, and why") {
    withConnection([](Connection* db) -> Future<Void> {
        auto sentence = [](Error error) {
            CHECK(error.code() == error_code_client_invalid_operation);
            return std::string(error.what());
        };
        Error error = co_await errorIn(db->one<int>("SELECT NULL::int AS age"));
        CHECK(sentence(error) == "column 1 (age) is NULL; the row type wants a value: use std::optional");
        error = co_await errorIn(db->one<std::int16_t>("SELECT 70000 AS n"));
        CHECK(sentence(error) == "column 1 (n) is of the type with the OID 23; the row type wants an integer from "
                                 "-32768 to 32767");
        error = co_await errorIn(db->one<int>("SELECT 'a'::text AS n"));
        CHECK(sentence(error).find("the row type wants an integer") != std::string::npos);
        error = co_await errorIn(db->one<int>("SELECT 1.5::numeric AS n"));
        CHECK(sentence(error) == "column 1 (n) is \"1.5\"; the row type wants an integer");
        error = co_await errorIn(db->one<std::string>("SELECT 1 AS n"));
        CHECK(sentence(error) == "column 1 (n) is of the type with the OID 23; the row type wants a text");
        error = co_await errorIn(db->one<Bytes>("SELECT 1"));
        CHECK(sentence(error).find("wants a bytea") != std::string::npos);
        error = co_await errorIn(db->one<UID>("SELECT 1"));
        CHECK(sentence(error).find("wants a uuid") != std::string::npos);
        error = co_await errorIn(db->one<bool>("SELECT 1"));
        CHECK(sentence(error).find("wants a bool") != std::string::npos);
        error = co_await errorIn(db->one<Timestamp>("SELECT 1"));
        CHECK(sentence(error).find("wants a timestamptz") != std::string::npos);
        error = co_await errorIn(db->one<std::tuple<int, int>>("SELECT 1"));
        CHECK(sentence(error) == "the query gives 1 columns; the row type has 2");
        error = co_await errorIn(
            db->query<std::tuple<Timestamp, double>>("SELECT '0044-03-15 00:00:00 BC'::timestamptz, 1::numeric"));
        CHECK(sentence(error).find("in the style ISO") != std::string::npos);
        error = co_await errorIn(db->one<std::string>("SELECT $1::text", UID(1, 2)));
        CHECK(sentence(error) == "parameter 1 is a UID; cast it in the query, as in $1::uuid");
        std::string zero("a\0b", 3);
        error = co_await errorIn(db->one<std::string>("SELECT $1::uuid::text", zero));
        CHECK(sentence(error) == "parameter 1 is a text with a zero byte");
    });
}
