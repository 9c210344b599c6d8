#include "flow/sim/number_range.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

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
    auto wrong = [](const char* text) -> std::string {
        try {
            NumberRange::parse(text);
        } catch (std::invalid_argument const& error) {
            return error.what();
        }
        return "nothing";
    };
    CHECK(wrong("") == "no number: ''");
    CHECK(wrong("1..") == "no number: ''");
    CHECK(wrong("1..x") == "no number: 'x'");
    CHECK(wrong("-1") == "no number: '-1'");
    CHECK(wrong("6..4") == "the last comes before the first: '6..4'");
}
