#include "flow/emitted/pack.h"

#include "tests/flow/support/tracer.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>

using flow::actor::Pack;
using namespace flow::test;

TEST_CASE("pack: apply hands out the elements themselves, in order") {
    Pack<int, std::string, char> pack(1, "two", '3');
    pack.apply([](int& i, std::string& s, char&) {
        i = 4;
        s += "!";
    });
    CHECK(pack.apply([](int i, std::string const& s, char c) { return std::to_string(i) + s + c; }) == "4two!3");
    CHECK(Pack<>().apply([] { return 5; }) == 5);
}

TEST_CASE("pack: elements are moved in, and destroyed last to first") {
    Pack<std::unique_ptr<int>> only(std::make_unique<int>(3));
    CHECK(only.apply([](std::unique_ptr<int>& p) { return *p; }) == 3);

    Log log;
    Tracer a(log, "a"), b(log, "b");
    {
        Pack<Tracer, Tracer> pack(a, b);
        log.clear();
    }
    CHECK(log == Log{"destroy b", "destroy a"});
}
