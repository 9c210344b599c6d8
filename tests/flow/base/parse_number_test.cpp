#include "flow/base/parse_number.h"

#include <doctest/doctest.h>

#include <cstdint>

using namespace flow;

TEST_CASE("parse number: a whole text, or nothing") {
    CHECK(parseNumber<int>("-12") == -12);
    CHECK(parseNumber<std::uint64_t>("18446744073709551615") == 18446744073709551615u);
    CHECK(parseNumber<double>("2.5e-1") == 0.25);
    CHECK(parseNumber<std::uint16_t>(std::string_view("4500:").substr(0, 4)) == 4500);
    for (const char* text : {"", "-", "+1", " 1", "1 ", "1x", "0x1", "1,5", "65536", "-1"}) {
        CAPTURE(text);
        CHECK(!parseNumber<std::uint16_t>(text));
    }
    CHECK(!parseNumber<double>("1.5s"));
}
