#include "flow/sync/event.h"

#include "flow/combine/race.h"
#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>

namespace {
using namespace flow;

TEST_CASE("an event resumes all waiters, and later ones do not wait while it is set") {
    SimLoop loop;
    Event event;
    Future<Void> one = keep(event.wait());
    Future<Void> two = keep(event.wait());
    CHECK(!one.isReady());
    event.set();
    loop.run(delay(0.01));
    CHECK(one.isReady());
    CHECK(two.isReady());
    CHECK(keep(event.wait()).isReady());
    event.reset();
    CHECK(!event.isSet());
    CHECK(!keep(event.wait()).isReady());
}

TEST_CASE("an event that is reset before its turn resumes no waiter") {
    SimLoop loop;
    Event event;
    Future<Void> one = keep(event.wait());
    event.set();
    event.reset();
    loop.run(delay(0.01));
    CHECK(!one.isReady());
    event.set();
    loop.run(one);
}

TEST_CASE("waiters for an event that is destroyed fail") {
    SimLoop loop;
    Future<Void> one;
    {
        Event event;
        one = keep(event.wait());
    }
    CHECK(one.getError() == broken_promise());
}

} // namespace
