#include "flow/sim/detail/fault_filter.h"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace flow;

TEST_CASE("fault filter: all faults, only some, and without some") {
    FaultFilter filter;
    CHECK(filter.admits(FaultKind::clog, 0));
    filter.without = SomeFaults::parse("clog:3,buggify");
    CHECK(filter.admits(FaultKind::clog, 2));
    CHECK(!filter.admits(FaultKind::clog, 3));
    CHECK(!filter.admits(FaultKind::buggify, 1'000'000));
    filter.only = SomeFaults::parse("clog:2..4,diskFull,clog:7");
    CHECK(!filter.admits(FaultKind::clog, 1));
    CHECK(filter.admits(FaultKind::clog, 2));
    CHECK(!filter.admits(FaultKind::clog, 3));
    CHECK(filter.admits(FaultKind::clog, 4));
    CHECK(!filter.admits(FaultKind::clog, 5));
    CHECK(filter.admits(FaultKind::clog, 7));
    CHECK(filter.admits(FaultKind::diskFull, 1'000'000));
    CHECK(!filter.admits(FaultKind::diskError, 0));
    filter.only = SomeFaults::parse("");
    CHECK(!filter.admits(FaultKind::diskFull, 0));
}

TEST_CASE("fault filter: faults as a text and back") {
    for (const char* text : {"", "clog", "clog:0", "clog:1..3,clog:5,buggify", "clog:18446744073709551615"})
        CHECK(SomeFaults::parse(text).toString() == text);
    CHECK(SomeFaults::parse("buggify,clog:5,clog:6,clog:7..9,clog:0").toString() == "clog:5..9,clog:0,buggify");
}

TEST_CASE("fault filter: what is wrong with a text") {
    auto parse = SomeFaults::parse;
    CHECK_THROWS_WITH_AS(parse("clog,flood"), "no fault of the name 'flood'", std::invalid_argument);
    CHECK_THROWS_WITH_AS(parse("clog:"), "no number: ''", std::invalid_argument);
    CHECK_THROWS_WITH_AS(parse("clog:3,clog:6..4"), "the last comes before the first: '6..4'", std::invalid_argument);
    CHECK_THROWS_WITH_AS(parse(",clog"), "no fault of the name ''", std::invalid_argument);
    CHECK_THROWS_WITH_AS(parse("clog,"), "no fault of the name ''", std::invalid_argument);
}
