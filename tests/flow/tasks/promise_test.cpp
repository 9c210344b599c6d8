#include "flow/tasks/detail/promise.h"

#include "flow/sim/sim_loop.h"
#include "flow/tasks/task.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>

namespace {
using namespace flow;

struct Adder {
    int base;
    Task<int> add(Context, int n) const { co_return base + n; }
    Fork<int> fork(Context, int n) { co_return base += n; }
};

/// A parameter that throws when it is moved into the frame.
struct Throwing {
    Throwing() = default;
    Throwing(Throwing const&) { throw std::runtime_error("no copy"); }
};
Fork<int> takes(Context, Throwing) {
    co_return 1;
}

TEST_CASE("members and lambdas are tasks as well") {
    SimLoop loop;
    test::Balance balance;
    Adder adder{10};
    auto root = [&adder](Context, int n) -> Task<int> {
        int first = co_await adder.add(co_await context(), n);
        Fork<int> second = adder.fork(co_await context(), n);
        co_return first + co_await second;
    };
    CHECK(loop.run(start(root(Environment(), 5))) == 30);
}

TEST_CASE("a parameter that cannot be moved into the frame leaves nothing behind") {
    SimLoop loop;
    test::Balance balance;
    auto root = [](Context) -> Task<int> {
        int thrown = 0;
        for (int i = 0; i < 3; ++i) {
            Throwing throwing;
            try {
                (void)takes(co_await context(), throwing);
            } catch (std::runtime_error const&) {
                ++thrown;
            }
        }
        co_return thrown;
    };
    CHECK(loop.run(start(root(Environment()))) == 3);
}

TEST_CASE("a task that has been cancelled fails at each wait") {
    SimLoop loop;
    int waits = 0;
    auto root = [](Context, int* count) -> Task<> {
        for (int i = 0; i < 3; ++i)
            try {
                co_await delay(1);
            } catch (Error const& error) {
                *count += error == actor_cancelled();
            }
        auto child = [](Context, int* n) -> Fork<> {
            try {
                co_await delay(1);
            } catch (Error const&) {
                ++*n; // what a cancelled task starts is cancelled
            }
        };
        Fork<> late = child(co_await context(), count);
        bool failed = false;
        try {
            co_await late;
        } catch (Error const& error) {
            failed = error == actor_cancelled();
        }
        *count += failed;
    };
    Future<Void> running = start(root(Environment(), &waits));
    running.cancel();
    CHECK(waits == 5);
    CHECK(!loop.hasWork());
}

} // namespace
