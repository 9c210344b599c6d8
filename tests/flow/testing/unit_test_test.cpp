#include "flow/testing/unit_test.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>

#include <cstring>
#include <set>
#include <string>

using namespace flow;

namespace {

int ran = 0;

FLOW_TEST_CASE("/unit_test/plain function") {
    ran += params.getInt("step").orDefault(1);
    return Void();
}

FLOW_TEST_CASE("/unit_test/coroutine") {
    co_await delay(2);
    ran += static_cast<int>(now());
}

// What actorc makes of a TEST_CASE.
Future<Void> byReference(UnitTestParameters const& params) {
    if (params.get("fail").present())
        throw io_error();
    return Void();
}
FLOW_ACTOR_TEST_CASE(byReference, "/unit_test/by reference")

UnitTest* find(char const* name) {
    for (UnitTest* test = g_unittests.tests; test; test = test->next)
        if (std::strcmp(test->name, name) == 0)
            return test;
    return nullptr;
}

} // namespace

TEST_CASE("unit_test: all that are registered are in the list once, with their place") {
    std::multiset<std::string> names;
    for (UnitTest* test = g_unittests.tests; test; test = test->next)
        names.insert(test->name);
    CHECK(names.count("/unit_test/plain function") == 1);
    CHECK(names.count("/unit_test/coroutine") == 1);
    CHECK(names.count("/unit_test/by reference") == 1);
    CHECK(std::string(find("/unit_test/coroutine")->file).find("unit_test_test.cpp") != std::string::npos);
    CHECK(find("/unit_test/coroutine")->line > find("/unit_test/plain function")->line);
}

TEST_CASE("unit_test: functions, coroutines and functions by reference run") {
    SimLoop loop;
    UnitTestParameters params;
    ran = 0;
    loop.run(find("/unit_test/plain function")->func(params));
    CHECK(ran == 1);
    params.set("step", 10);
    loop.run(find("/unit_test/plain function")->func(params));
    CHECK(ran == 11);
    loop.run(find("/unit_test/coroutine")->func(params));
    CHECK(ran == 13);
    loop.run(find("/unit_test/by reference")->func(params));
    params.set("fail", "yes");
    CHECK_THROWS_AS((void)find("/unit_test/by reference")->func(params), Error);
}

TEST_CASE("unit_test: parameters") {
    UnitTestParameters params;
    CHECK_FALSE(params.get("a").present());
    CHECK_FALSE(params.getInt("a").present());
    params.set("a", 5);
    params.set("b", 0.25);
    params.set("c", std::int64_t{1} << 40);
    params.set("d", "text");
    params.set("e", "12x");
    CHECK(params.getInt("a").get() == 5);
    CHECK(params.getDouble("a").get() == 5.0);
    CHECK(params.getDouble("b").get() == 0.25);
    CHECK(params.getInt("c").get() == std::int64_t{1} << 40);
    CHECK(params.get("d").get() == "text");
    for (char const* name : {"d", "e"}) {
        CHECK_THROWS_AS((void)params.getInt(name), Error);
        CHECK_THROWS_AS((void)params.getDouble(name), Error);
    }
    CHECK_THROWS_AS((void)params.getInt("b"), Error);
    params.set("a", -1);
    CHECK(params.getInt("a").get() == -1);
    CHECK(params.getDataDir() == ".");
    params.setDataDir("/tmp");
    CHECK(params.getDataDir() == "/tmp");
}
