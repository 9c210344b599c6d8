#include "flow/sim/detail/number_range.h"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace flow;

TEST_CASE("number range: one number, or from one to another") {
    NumberRange some = NumberRange::parse("4..6");
    CHECK(!some.contains(3));
    CHECK(some.contains(4));
    CHECK(some.contains(6));
    CHECK(!some.contains(7));
    NumberRange most = NumberRange::parse("18446744073709551615");
    CHECK(most.first == most.last);
    CHECK(most.contains(18446744073709551615u));
}

TEST_CASE("number range: what is none") {
    auto parse = NumberRange::parse;
    CHECK_THROWS_WITH_AS(parse(""), "no number: ''", std::invalid_argument);
    CHECK_THROWS_WITH_AS(parse("1.."), "no number: ''", std::invalid_argument);
    CHECK_THROWS_WITH_AS(parse("1..x"), "no number: 'x'", std::invalid_argument);
    CHECK_THROWS_WITH_AS(parse("-1"), "no number: '-1'", std::invalid_argument);
    CHECK_THROWS_WITH_AS(parse("6..4"), "the last comes before the first: '6..4'", std::invalid_argument);
}
