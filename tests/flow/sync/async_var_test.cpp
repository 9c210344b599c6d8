#include "flow/sync/async_var.h"

#include "flow/coro/coroutine.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using namespace flow::test;

TEST_CASE("AsyncVar: set wakes only on a change, setUnconditional and trigger always") {
    test::Balance balance;
    AsyncVar<int> var(1);
    Future<Void> change = var.onChange();
    var.set(1);
    CHECK_FALSE(change.isReady());
    var.set(2);
    CHECK(change.canGet());
    CHECK(var.get() == 2);
    change = var.onChange();
    var.setUnconditional(2);
    CHECK(change.canGet());
    change = var.onChange();
    var.trigger();
    CHECK(change.canGet());
    CHECK(AsyncVar<std::string>().get() == "");
}

TEST_CASE("AsyncVar: resumed waiters see the new value and may set it again") {
    test::Balance balance;
    TraceLog log;
    AsyncVar<int> var(0);
    auto follow = [&](std::string name) -> Future<Void> {
        std::string mine = name;
        while (var.get() < 3) {
            co_await var.onChange();
            log.say(mine + std::to_string(var.get()));
            if (var.get() == 1)
                var.set(2);
        }
    };
    Future<Void> a = follow("a"), b = follow("b");
    var.set(1);
    CHECK(log.take() == "b1 a2"); // b has not waited again when it sets 2
    var.set(3);
    CHECK(log.take() == "a3 b3");
    CHECK(a.isReady());
    CHECK(b.isReady());
}

TEST_CASE("AsyncVar: destruction breaks; a Reference shares one") {
    test::Balance balance;
    Future<Void> change;
    {
        auto var = makeReference<AsyncVar<int>>(5);
        Reference<AsyncVar<int>> same = var;
        var.clear();
        CHECK(same->get() == 5);
        change = same->onChange();
        CHECK_FALSE(change.isReady());
    }
    CHECK(change.getError() == broken_promise());
}
