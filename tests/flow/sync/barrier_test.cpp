#include "flow/sync/barrier.h"

#include "flow/combine/race.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

namespace {
using namespace flow;

TEST_CASE("a latch opens after so many steps, and stays open") {
    SimLoop loop;
    Latch latch(3);
    Future<Void> waits = keep(latch.wait());
    latch.countDown(2);
    loop.run(delay(0.01));
    CHECK(!waits.isReady());
    latch.countDown();
    loop.run(waits);
    CHECK(latch.isOpen());
    CHECK(keep(latch.wait()).isReady());
    CHECK(Latch(0).isOpen());
}

Fork<> walk(Context, Barrier* barrier, double seconds, int* inPhase) {
    for (int phase = 0; phase < 5; ++phase) {
        co_await delay(seconds);
        ++inPhase[phase];
        co_await barrier->arrive();
        CHECK(inPhase[phase] == 3); // nobody is behind
    }
}

TEST_CASE("a barrier keeps tasks in step") {
    SimLoop loop;
    Barrier barrier(3);
    int inPhase[5] = {};
    auto root = [](Context, Barrier* b, int* counts) -> Task<> {
        Context here = co_await context();
        for (int i = 0; i < 3; ++i)
            (void)walk(here, b, 1.0 + i, counts);
    };
    loop.run(start(root(Environment(), &barrier, inPhase)));
    CHECK(barrier.phase() == 5);
    CHECK(loop.now() == 15);
}

TEST_CASE("an arrival counts, also if the wait for the others loses a race") {
    SimLoop loop;
    Barrier barrier(2);
    loop.run([](Barrier* b) -> Future<Void> {
        auto first = co_await race(b->arrive(), delay(1));
        CHECK(first.index() == 1);
        co_await b->arrive(); // the second of this phase
    }(&barrier));
    CHECK(barrier.phase() == 1);
    CHECK(loop.now() == 1);
}

} // namespace
