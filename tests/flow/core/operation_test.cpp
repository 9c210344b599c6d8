#include "flow/core/operation.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>
#include <string>

using namespace flow;

namespace {

struct Countdown : Operation<Countdown, std::string> {
    Countdown(int& alive, int steps) : alive_(&alive), steps_(steps) {
        ++alive;
        if (steps == 13)
            throw operation_failed();
        if (steps == 0)
            complete("at once");
        else if (steps < 0)
            fail(io_error());
        else
            current = this;
    }
    ~Countdown() {
        --*alive_;
        current = nullptr;
    }
    void step() {
        if (--steps_ == 0)
            complete(5, 'x');
    }
    void giveUp() { fail(timed_out()); }
    static inline Countdown* current = nullptr;

private:
    int* alive_;
    int steps_;
};

} // namespace

TEST_CASE("operation: completes, fails, and is destroyed by a cancel") {
    test::Balance balance;
    SimLoop loop;
    int alive = 0;
    CHECK(start<Countdown>(alive, 0).get() == "at once");
    CHECK(start<Countdown>(alive, -1).getError().code() == error_code_io_error);
    CHECK(start<Countdown>(alive, 13).getError().code() == error_code_operation_failed);
    alive = 0; // of one that throws there is no destructor
    Future<std::string> counting = start<Countdown>(alive, 2);
    CHECK(alive == 1);
    Countdown::current->step();
    CHECK(!counting.isReady());
    Countdown::current->step();
    CHECK(counting.get() == "xxxxx");
    CHECK(alive == 0);
    counting = start<Countdown>(alive, 1);
    Countdown::current->giveUp();
    CHECK(counting.getError().code() == error_code_timed_out);
    counting = start<Countdown>(alive, 1);
    counting.cancel();
    CHECK(alive == 0);
    CHECK(counting.getError().code() == error_code_actor_cancelled);
    counting = start<Countdown>(alive, 1);
    counting = {};
    CHECK(alive == 0);
    auto wait = [](Future<std::string> future) -> Future<std::size_t> { co_return (co_await future).size(); };
    Future<std::size_t> size = wait(start<Countdown>(alive, 1));
    Countdown::current->step();
    CHECK(size.get() == 5);
    size = wait(start<Countdown>(alive, 1));
    size.cancel();
    CHECK(alive == 0);
}
