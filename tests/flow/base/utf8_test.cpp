#include "flow/base/utf8.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;

TEST_CASE("UTF-8, strictly") {
    for (char const* text :
         {"", "a", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"})
        CHECK(isUtf8(std::string("x") + text + "y"));
    for (char const* text : {"\x80", "\xC1\x80", "\xC2", "\xC2y", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xEF\xBF",
                             "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xFF"})
        CHECK_FALSE(isUtf8(std::string("x") + text));
}
