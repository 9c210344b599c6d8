#include "flow/fiber/fiber.h"
#include "flow/sim/sim_loop.h"
#include "flow/trace/request_value.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

using namespace flow;

TEST_CASE("request value: a fiber has that of its request") {
    SimLoop loop;
    auto ask = [](RequestContext here) {
        return fiber::spawn([here] {
            fiber::sleep(0.1);
            return *here.find(kRequestId);
        });
    };
    Future<std::string> first = ask(RequestContext().with(kRequestId, "first"));
    Future<std::string> second = ask(RequestContext().with(kRequestId, "second"));
    CHECK(loop.run(first) == "first");
    CHECK(loop.run(second) == "second");
}
