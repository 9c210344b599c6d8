#include "net/http/headers.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace flow;
using namespace flow::net::http;

namespace {

std::string sentenceOfAdding(std::string_view name, std::string_view value) {
    Headers headers;
    try {
        headers.add(name, value);
    } catch (Error& error) {
        CHECK(error == invalid_option_value());
        CHECK(headers.empty());
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("headers: fields keep their order, and names are compared without case") {
    Headers headers = {{"Content-Type", "text/plain"}, {"X-One", "1"}, {"x-one", "2"}};
    CHECK(headers.text() == "Content-Type: text/plain\r\nX-One: 1\r\nx-one: 2\r\n");
    CHECK(headers.get("content-TYPE") == "text/plain");
    CHECK(headers.get("X-ONE") == "1");
    CHECK(headers.get("absent", "other") == "other");
    CHECK_FALSE(headers.has("X-On"));
    headers.set("X-one", "3");
    CHECK(headers.text() == "Content-Type: text/plain\r\nX-one: 3\r\n");
    headers.remove("content-type");
    headers.remove("content-type");
    CHECK(headers.text() == "X-one: 3\r\n");
    headers.remove("x-one");
    CHECK(headers.empty());
    CHECK(headers.begin() == headers.end());
}

TEST_CASE("headers: a list has tokens") {
    Headers headers = {{"Connection", "keep-alive,  Upgrade "}, {"Connection", "other"}};
    CHECK(headers.hasToken("connection", "upgrade"));
    CHECK(headers.hasToken("connection", "OTHER"));
    CHECK_FALSE(headers.hasToken("connection", "keep"));
    CHECK_FALSE(headers.hasToken("upgrade", "keep-alive"));
}

TEST_CASE("headers: what would become a field or a message of its own is refused") {
    CHECK(sentenceOfAdding("X", "a\r\nY: b") ==
          "Headers: the value of X has a control character, such as CR, LF or NUL");
    CHECK(sentenceOfAdding("X", std::string_view("a\0b", 3)) != "");
    CHECK(sentenceOfAdding("X", "a\nb") != "");
    CHECK(sentenceOfAdding("X\r\nY", "b") ==
          "Headers: the name of a field is a token (letters, digits and a few signs), not \"X\\x0d\\x0aY\"");
    CHECK(sentenceOfAdding("", "b") != "");
    CHECK(sentenceOfAdding("X ", "b") != "");
    CHECK(sentenceOfAdding("X:", "b") != "");
    CHECK(sentenceOfAdding("X", "tab\t, \xC3\xA4") == "");
}

TEST_CASE("headers: a copy is not changed by the original, nor the other way round") {
    Headers one = {{"A", "1"}};
    Headers two = one;
    one.add("B", "2");
    two.add("C", "3");
    CHECK(one.text() == "A: 1\r\nB: 2\r\n");
    CHECK(two.text() == "A: 1\r\nC: 3\r\n");
    for (int i = 0; i < 100; ++i)
        one.add("Again", one.get("B")); // refers to the text that grows
    CHECK(one.text().size() == 12 + 100 * 10);
    one.set("B", one.get("Again"));
    CHECK(one.get("B") == "2");
    CHECK(std::count_if(one.begin(), one.end(), [](Headers::Field field) { return field.name == "Again"; }) == 100);
}
