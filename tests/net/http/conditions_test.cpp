#include "net/http/detail/conditions.h"

#include "net/http/detail/dates.h"

#include <doctest/doctest.h>

using namespace flow::net::http;
using namespace flow::net::http::detail;

namespace http_conditions_test {
namespace {

constexpr std::int64_t kModified = 784111777; // Sun, 06 Nov 1994 08:49:37 GMT
char const* const kSame = "Sun, 06 Nov 1994 08:49:37 GMT";
char const* const kBefore = "Sun, 06 Nov 1994 08:49:36 GMT";

int failed(Headers const& headers, std::string_view tag = "\"a\"") {
    return failedCondition(headers, {tag, kModified});
}
bool ranges(char const* ifRange, std::string_view tag = "\"a\"") {
    return rangesAreFor({{"If-Range", ifRange}}, {tag, kModified});
}

} // namespace

TEST_CASE("http dates: the three forms") {
    CHECK(httpDate(kModified) == kSame);
    CHECK(httpDate(0) == "Thu, 01 Jan 1970 00:00:00 GMT");
    CHECK(httpDate(951782400) == "Tue, 29 Feb 2000 00:00:00 GMT");
    CHECK(parseHttpDate(kSame) == kModified);
    CHECK(parseHttpDate("Sunday, 06-Nov-94 08:49:37 GMT") == kModified);
    CHECK(parseHttpDate("Sun Nov  6 08:49:37 1994") == kModified);
    CHECK(parseHttpDate("Tue, 29 Feb 2000 00:00:00 GMT") == 951782400);
    for (char const* wrong :
         {"", "x", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT+1",
          "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Xyz 1994 08:49:37 GMT",
          "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:-9:37 GMT", "784111777"})
        CHECK_MESSAGE(!parseHttpDate(wrong), wrong);
}

TEST_CASE("http conditions: tags") {
    CHECK(failed({}) == 0);
    CHECK(failed({{"If-Match", "\"a\""}}) == 0);
    CHECK(failed({{"If-Match", "\"b\", \"a\""}}) == 0);
    CHECK(failed({{"If-Match", "\"b\""}, {"If-Match", "\"a\""}}) == 0);
    CHECK(failed({{"If-Match", "*"}}) == 0);
    for (char const* other : {"\"b\"", "W/\"a\"", "a", "", "\"a", "\"b,\"", "\"A\""})
        CHECK_MESSAGE(failed({{"If-Match", other}}) == 412, other);
    CHECK(failed({{"If-Match", "\"a\""}}, "W/\"a\"") == 412); // a strong comparison
    for (char const* same : {"\"a\"", "W/\"a\"", "\"x,y\" , W/\"a\"", "*", ",, \"a\""})
        CHECK_MESSAGE(failed({{"If-None-Match", same}}) == 304, same);
    CHECK(failed({{"If-None-Match", "\"a\""}}, "W/\"a\"") == 304);
    CHECK(failed({{"If-None-Match", "\"b\""}}) == 0);
    CHECK(failed({{"If-None-Match", "\"b,\"a\""}}) == 0); // after the wrong part nothing counts
}

TEST_CASE("http conditions: dates, and which field comes first") {
    CHECK(failed({{"If-Modified-Since", kSame}}) == 304);
    CHECK(failed({{"If-Modified-Since", kBefore}}) == 0);
    CHECK(failed({{"If-Modified-Since", "yesterday"}}) == 0);
    CHECK(failed({{"If-Unmodified-Since", kSame}}) == 0);
    CHECK(failed({{"If-Unmodified-Since", kBefore}}) == 412);
    CHECK(failed({{"If-Unmodified-Since", "yesterday"}}) == 0);
    CHECK(failed({{"If-None-Match", "\"b\""}, {"If-Modified-Since", kSame}}) == 0);
    CHECK(failed({{"If-None-Match", "\"a\""}, {"If-Modified-Since", kBefore}}) == 304);
    CHECK(failed({{"If-Match", "\"a\""}, {"If-Unmodified-Since", kBefore}}) == 0);
    CHECK(failed({{"If-Match", "\"b\""}, {"If-None-Match", "\"a\""}}) == 412);
    CHECK(failed({{"If-Match", "\"a\""}, {"If-None-Match", "\"a\""}}) == 304);
}

TEST_CASE("http conditions: If-Range needs the same strong tag, or the same date") {
    CHECK(rangesAreFor({}, {"\"a\"", kModified}));
    CHECK(ranges("\"a\""));
    CHECK(ranges(kSame));
    for (char const* other : {"\"b\"", "W/\"a\"", "a", "", kBefore, "Sun, 06 Nov 1994 08:49:38 GMT", "*"})
        CHECK_MESSAGE(!ranges(other), other);
    CHECK(!ranges("W/\"a\"", "W/\"a\""));
    CHECK(!ranges(kSame, "W/\"a\""));
}

} // namespace http_conditions_test
