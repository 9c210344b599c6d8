#include "flow/base/assert.h"

#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::detail;

namespace {

[[gnu::noinline]] void somethingThatRuns() {
    asm volatile("");
}

} // namespace

TEST_CASE("assert: a condition that holds costs one evaluation") {
    int evaluated = 0;
    FLOW_ASSERT(++evaluated == 1, "never seen");
    CHECK(evaluated == 1);
    int* pointer = &evaluated;
    FLOW_ASSERT(pointer, "a pointer will do");
}

TEST_CASE("assert: a failure names condition, message and place") {
    int answer = 41;
    test::Death death = test::runInChild([&] { FLOW_ASSERT(answer == 42, "the answer is wrong"); });
    CHECK(death.aborted());
    CHECK(death.says("the answer is wrong"));
    CHECK(death.says("answer == 42"));
    CHECK(death.says("assert_test.cpp:"));
    CHECK(!death.says("in actor"));
}

TEST_CASE("assert: text with percent signs is not a format") {
    test::Death death = test::runInChild([] { assertionFailed("a %s b", "100%n", "file", 3); });
    CHECK(death.aborted());
    CHECK(death.says("100%n [a %s b] at file:3"));
}

TEST_CASE("assert: a failure names the running actor") {
    test::Death death = test::runInChild([] {
        runningActor = reinterpret_cast<const void*>(&somethingThatRuns);
        FLOW_ASSERT(false, "inside");
    });
    CHECK(death.aborted());
    CHECK(death.says("in actor"));
    CHECK(death.says("somethingThatRuns"));
}

TEST_CASE("assert: FLOW_CHECK is evaluated in checked builds only") {
    [[maybe_unused]] int evaluated = 0;
    FLOW_CHECK(++evaluated, "never seen");
    CHECK(evaluated == FLOW_CHECKED);
    test::Death death = test::runInChild([] { FLOW_CHECK(1 > 2, "costly"); });
    CHECK(death.aborted() == bool(FLOW_CHECKED));
    CHECK(death.says("costly") == bool(FLOW_CHECKED));
}
