#include "flow/trace/detail/json.h"

#include <doctest/doctest.h>

#include <limits>

using namespace flow;

namespace {

std::string quoted(std::string_view text) {
    std::string out;
    appendJsonString(out, text);
    return out;
}

template <class T>
std::string value(T const& v) {
    std::string out;
    appendJsonValue(out, v);
    return out;
}

} // namespace

TEST_CASE("json: what must be escaped is") {
    CHECK(quoted("") == "\"\"");
    CHECK(quoted("plain /text/") == "\"plain /text/\"");
    CHECK(quoted("a\"b\\c") == "\"a\\\"b\\\\c\"");
    CHECK(quoted("\n\t\r\b\x1f\x7f") == "\"\\n\\t\\r\\u0008\\u001f\\u007f\"");
    CHECK(quoted(std::string_view("a\0b", 3)) == "\"a\\u0000b\"");
}

TEST_CASE("json: UTF-8 stays, anything else is replaced") {
    for (char const* text : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
        CHECK(quoted(text) == "\"" + std::string(text) + "\"");
    CHECK(quoted("\xff") == "\"\\ufffd\"");
    CHECK(quoted("a\xc3") == "\"a\\ufffd\"");
    CHECK(quoted("\xe2\x82") == "\"\\ufffd\\ufffd\"");
    CHECK(quoted("\xc3(") == "\"\\ufffd(\"");
    CHECK(quoted("\xc0\x80") == "\"\\ufffd\\ufffd\"");                       // a zero, made longer
    CHECK(quoted("\xe0\x80\x80") == "\"\\ufffd\\ufffd\\ufffd\"");            // the same
    CHECK(quoted("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");            // half of a pair
    CHECK(quoted("\xf4\x90\x80\x80") == "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); // beyond Unicode
    CHECK(quoted("\xf5\x80\x80\x80").size() == 26);
}

TEST_CASE("json: values") {
    CHECK(value(7) == "7");
    CHECK(value(-0.5) == "-0.5");
    CHECK(value(1e300) == "1e+300");
    CHECK(value(true) == "true");
    CHECK(value('x') == "\"x\"");
    CHECK(value("text") == "\"text\"");
    CHECK(value(std::numeric_limits<double>::infinity()) == "\"inf\"");
    CHECK(value(std::numeric_limits<double>::quiet_NaN()) == "\"nan\"");
    CHECK(value(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
}
