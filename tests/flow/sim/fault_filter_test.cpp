#include "flow/sim/fault_filter.h"

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
    auto wrong = [](const char* text) -> std::string {
        try {
            SomeFaults::parse(text);
        } catch (std::invalid_argument const& error) {
            return error.what();
        }
        return "nothing";
    };
    CHECK(wrong("clog,flood") == "no fault of the name 'flood'");
    CHECK(wrong("clog:") == "no number: ''");
    CHECK(wrong("clog:3,clog:6..4") == "the last comes before the first: '6..4'");
    CHECK(wrong(",clog") == "no fault of the name ''");
    CHECK(wrong("clog,") == "no fault of the name ''");
}
