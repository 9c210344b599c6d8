#include "flow/base/to_text.h"

#include "flow/base/error.h"
#include "flow/base/optional.h"
#include "flow/base/uid.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

using namespace flow;

namespace {

struct Point {
    int x, y;
};
struct Opaque {
    int numbers[4];
};
enum class Colour : std::uint8_t { Red = 3 };
struct Named {
    std::string toString() const { return "a name"; }
};

} // namespace

template <>
struct flow::Traceable<Point> : std::true_type {
    static std::string toString(Point const& p) { return "(" + toText(p.x) + "; " + toText(p.y) + ")"; }
};

TEST_CASE("to_text: numbers") {
    CHECK(toText(-7) == "-7");
    CHECK(toText(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
    CHECK(toText(std::uint8_t{65}) == "65");
    CHECK(toText('A') == "A");
    CHECK(toText(true) == "true");
    CHECK(toText(0.1) == "0.1");
    CHECK(toText(1e300) == "1e+300");
    CHECK(toText(std::numeric_limits<double>::infinity()) == "inf");
    CHECK(toText(0.5f) == "0.5");
    CHECK(toText(0.25L) == "0.25");
    CHECK(toText(Colour::Red) == "3");
}

TEST_CASE("to_text: text and pointers") {
    char array[] = "array";
    char const* null = nullptr;
    CHECK(toText("literal") == "literal");
    CHECK(toText(array) == "array");
    CHECK(toText(null) == "nullptr");
    CHECK(toText(nullptr) == "nullptr");
    CHECK(toText(std::string("a\0b", 3)).size() == 3);
    CHECK(toText(std::string_view("view")) == "view");
    int number;
    CHECK(toText(&number).substr(0, 2) == "0x");
}

TEST_CASE("to_text: what a type offers itself") {
    CHECK(toText(Point{1, 2}) == "(1; 2)");
    CHECK(toText(Named()) == "a name");
    CHECK(toText(timed_out()) == "timed_out");
    CHECK(toText(UID(1, 2)) == "00000000000000010000000000000002");
    CHECK(toText(Optional<int>(4)) == "4");
    CHECK(toText(Optional<int>()) == "[not set]");
    CHECK(toText(Opaque()) == "(16 bytes)");
}

TEST_CASE("to_text: ranges") {
    CHECK(toText(std::vector<int>()) == "[]");
    CHECK(toText(std::vector<Point>{{1, 2}, {3, 4}}) == "[(1; 2), (3; 4)]");
    CHECK(toText(std::vector<bool>{true, false}) == "[true, false]");
}
