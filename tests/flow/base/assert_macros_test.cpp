#include "flow/test.h"

#include "flow/base/error.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

using namespace flow;

namespace {

std::string heard;
int heardLine = 0;

/// What an assertion says, and that it throws internal_error.
template <class Body>
std::string breach(Body body) {
    heard.clear();
    AssertionHandler before = setAssertionHandler([](const char* message, const char*, int line, const char*) {
        heard = message;
        heardLine = line;
    });
    Error thrown;
    test::Death child = test::runInChild([&] { // for what is printed, which would litter the output of the tests
        try {
            body();
        } catch (Error& error) {
            thrown = error;
        }
        std::fprintf(stderr, "heard \"%s\" line %d, thrown %s\n", heard.c_str(), heardLine, thrown.name());
    });
    setAssertionHandler(before);
    return child.text;
}

bool contains(std::string const& text, std::string const& part) {
    INFO(text);
    bool found = text.find(part) != std::string::npos;
    CHECK(found);
    return found;
}

int sign(int number) {
    if (number < 0)
        return -1;
    if (number >= 0)
        return 1;
    UNREACHABLE();
}

} // namespace

TEST_CASE("assert macros: what holds is evaluated once and says nothing") {
    int evaluated = 0;
    ASSERT(++evaluated == 1);
    ASSERT_EQ(++evaluated, 2);
    ASSERT_WE_THINK(++evaluated == 3);
    ASSERT_ABORT(++evaluated == 4);
    UNSTOPPABLE_ASSERT(++evaluated == 5);
    ASSERT_NE(evaluated, 6);
    ASSERT_LT(evaluated, 6);
    ASSERT_LE(evaluated, 5);
    ASSERT_GT(evaluated, 4);
    ASSERT_GE(evaluated, 5);
    CHECK(evaluated == 5);
    CHECK(sign(-3) == -1);
}

TEST_CASE("assert macros: a breach is printed, passed to the handler and thrown") {
    int queue = 3;
    int line = __LINE__ + 1;
    std::string said = breach([&] { ASSERT(queue == 0); });
    contains(said, "flow: assertion failed: queue == 0 at ");
    contains(said, "assert_macros_test.cpp:" + std::to_string(line));
    contains(said, "heard \"queue == 0\" line " + std::to_string(line) + ", thrown internal_error");
    contains(breach([&] { UNSTOPPABLE_ASSERT(queue == 0); }), "thrown internal_error");
    contains(breach([&] { UNREACHABLE(); }), "heard \"UNREACHABLE()\"");
}

TEST_CASE("assert macros: comparisons print both values") {
    int a = 3;
    std::string text = "x";
    contains(breach([&] { ASSERT_EQ(a, 4); }), "heard \"a == 4: 3 and 4\"");
    contains(breach([&] { ASSERT_NE(text, "x"); }), "text != \"x\": x and x");
    contains(breach([&] { ASSERT_LT(a, 3u); }), "a < 3u: 3 and 3");
    contains(breach([&] { ASSERT_LE(a, -1); }), "a <= -1: 3 and -1");
    contains(breach([&] { ASSERT_GT(a, 0.5 + 3); }), "a > 0.5 + 3: 3 and 3.5");
    contains(breach([&] { ASSERT_GE(-1, a); }), "-1 >= a: -1 and 3");
    contains(breach([&] { ASSERT_EQ(timed_out(), Error()); }), "timed_out and unset");
    contains(breach([&] { ASSERT_EQ(std::vector<int>{1}, std::vector<int>()); }), "[1] and []");
}

TEST_CASE("assert macros: integers of different signs compare as numbers") {
    ASSERT_LT(-1, 1u);
    ASSERT_NE(-1, ~0u);
    ASSERT_EQ(std::string("abc").size(), 3);
    contains(breach([&] { ASSERT_GT(-1, 1u); }), "-1 and 1");
    ASSERT_EQ('a', 'a');
    ASSERT_EQ(true, true);
}

TEST_CASE("assert macros: ASSERT_WE_THINK throws in checked builds only, ASSERT_ABORT always ends the program") {
    std::string said = breach([] { ASSERT_WE_THINK(1 > 2); });
    contains(said, "heard \"1 > 2\"");
    contains(said, FLOW_CHECKED ? "thrown internal_error" : "thrown success");
    CHECK_DIES(ASSERT_ABORT(1 > 2), "1 > 2");
    CHECK_DIES([]() noexcept { ASSERT(1 > 3); }(), "1 > 3");
}

TEST_CASE("assert macros: setAssertionHandler returns the one before, and gets the runtime's own") {
    AssertionHandler handler = [](const char* message, const char*, int, const char* actor) {
        std::fprintf(stderr, "<%s|%s>", message, actor);
    };
    AssertionHandler before = setAssertionHandler(handler);
    CHECK_DIES(FLOW_ASSERT(1 > 2, "misuse"), "<misuse [1 > 2]|>");
    CHECK(bool(setAssertionHandler(before) == handler));
}

TEST_CASE("assert macros: ASSERT_NEAR") {
    ASSERT_NEAR(1.5, 1.4, 0.11);
    ASSERT_NEAR(1u, 2u, 1);
    ASSERT_NEAR(INFINITY, INFINITY, 0);
    contains(breach([] { ASSERT_NEAR(1.5, 2, 0.25); }), "heard \"1.5 is near 2: 1.5 and 2, not within 0.25\"");
    contains(breach([] { ASSERT_NEAR(NAN, NAN, INFINITY); }), "not within");
    contains(breach([] { ASSERT_NEAR(1u, 2u, 0.5); }), "1 and 2");
}
