// Everything of flow/tasks and flow/sync that waits, cancelled at each step: see
// tests/flow/support/cancel_everywhere.h.
#include "flow/combine/race.h"
#include "flow/sync/barrier.h"
#include "flow/sync/channel.h"
#include "flow/sync/event.h"
#include "flow/sync/semaphore.h"
#include "flow/tasks/combine.h"
#include "flow/tasks/generator.h"
#include "flow/tasks/scope.h"
#include "tests/flow/support/cancel_everywhere.h"

#include <doctest/doctest.h>

#include <optional>
#include <vector>

namespace {
using namespace flow;
using namespace flow::test;

/// A task sees its cancel as a C++ exception.
void cancelTask(const char* name, std::function<AnyFuture(Inputs&)> const& make) {
    cancelEverywhere(name, make, {.hasHandlers = true});
}

Task<int> awaits(Context, Future<int> number, Sentinel) {
    int value = co_await number;
    co_await delay(0.1);
    co_return value;
}
Fork<int> forks(Context, Future<int> number, Sentinel) {
    co_return co_await number;
}

TEST_CASE("a task and what it awaits can be cancelled at each step") {
    cancelTask("Task", [](Inputs& in) {
        auto root = [](Context, Future<int> a, Future<int> b, Sentinel s) -> Task<int> {
            int sum = co_await awaits(co_await context(), a, s);
            sum += co_await awaits(co_await context(), b, s);
            co_return sum;
        };
        return start(root(Environment(), in.number(0), in.number(1), in.sentinel()));
    });
}

TEST_CASE("forks can be cancelled at each step, awaited or not") {
    cancelTask("Fork", [](Inputs& in) {
        auto root = [](Context, Future<int> a, Future<int> b, Future<int> c, Sentinel s) -> Task<int> {
            Context here = co_await context();
            Fork<int> first = forks(here, a, s);
            Fork<int> second = forks(here, b, s);
            (void)forks(here, c, s); // its parent waits for it all the same
            int sum = co_await second;
            sum += co_await std::move(first);
            co_await destroyForks();
            co_return sum;
        };
        return start(root(Environment(), in.number(0), in.number(1), in.number(2), in.sentinel()));
    });
}

TEST_CASE("the children of a scope can be cancelled at each step") {
    for (OnError onError : {OnError::CancelRest, OnError::Collect}) {
        cancelTask("Scope", [onError](Inputs& in) {
            auto root = [](Context, OnError how, Future<int> a, Future<int> b, Future<int> c, Sentinel s) -> Task<> {
                Scope scope(co_await context(), how);
                scope.spawn(awaits(scope.context(), a, s));
                scope.spawn(awaits(scope.context(), b, s));
                co_await c;
                co_await scope.join();
            };
            return start(root(Environment(), onError, in.number(0), in.number(1), in.number(2), in.sentinel()));
        });
    }
}

TEST_CASE("all, some and race can be cancelled at each step") {
    cancelTask("all", [](Inputs& in) {
        auto root = [](Context, Future<int> a, Future<int> b, Sentinel s) -> Task<int> {
            Context here = co_await context();
            auto both = co_await all(here, awaits(here, a, s), awaits(here, b, s));
            co_return std::get<0>(both) + std::get<1>(both);
        };
        return start(root(Environment(), in.number(0), in.number(1), in.sentinel()));
    });
    cancelTask("some", [](Inputs& in) {
        auto root = [](Context, Future<int> a, Future<int> b, Sentinel s) -> Task<> {
            Context here = co_await context();
            std::vector<Task<int>> tasks;
            tasks.push_back(awaits(here, a, s));
            tasks.push_back(awaits(here, b, s));
            co_await some(here, 1, std::move(tasks));
        };
        return start(root(Environment(), in.number(0), in.number(1), in.sentinel()));
    });
    cancelTask("race", [](Inputs& in) {
        auto root = [](Context, Future<int> a, FutureStream<int> b, Sentinel s) -> Task<> {
            Context here = co_await context();
            auto first = co_await race(here, awaits(here, a, s), b, delay(100));
            if (first.index() == 1)
                co_await timeout(here, b, 50);
        };
        return start(root(Environment(), in.number(0), in.numbers(), in.sentinel()));
    });
}

TEST_CASE("tasks on both ends of a channel can be cancelled at each step") {
    for (std::size_t capacity : {std::size_t{0}, std::size_t{1}}) {
        cancelTask("channel between tasks", [capacity](Inputs& in) {
            auto sender = [](Context, Channel<int>* to, Future<int> number, Sentinel) -> Fork<> {
                int value = co_await number;
                co_await to->send(value);
                co_await to->send(std::move(value));
            };
            auto root = [](Context, auto make, Channel<int>* channel, Future<int> number, Sentinel s) -> Task<int> {
                Fork<> sending = make(co_await context(), channel, number, s);
                auto first = co_await race(channel->receive(), sending.future(), delay(100));
                if (first.index() != 0)
                    co_return -1;
                co_return co_await channel->receive();
            };
            auto& channel = in.keep<Channel<int>>(capacity);
            in.afterwards([&channel] { return channel.size() <= 1; });
            return start(root(Environment(), sender, &channel, in.number(0), in.sentinel()));
        });
    }
}

TEST_CASE("a generator that waits can be cancelled with its reader at each step") {
    cancelTask("AsyncGenerator", [](Inputs& in) {
        auto numbers = [](Context, Future<int> a, Future<int> b, Sentinel) -> AsyncGenerator<int> {
            int first = co_await a;
            co_yield first;
            int second = co_await b;
            co_yield second;
        };
        auto root = [](Context, auto make, Future<int> a, Future<int> b, Sentinel s) -> Task<int> {
            AsyncGenerator<int> all = make(co_await context(), a, b, s);
            int sum = 0;
            for (;;) {
                std::optional<int> next = co_await all.next();
                if (!next)
                    co_return sum;
                sum += *next;
            }
        };
        return start(root(Environment(), numbers, in.number(0), in.number(1), in.sentinel()));
    });
}

TEST_CASE("events, latches, barriers, semaphores and mutexes can be waited for and cancelled at each step") {
    cancelTask("Event", [](Inputs& in) {
        auto& event = in.keep<Event>();
        in.onStep([&event] { event.set(); });
        auto root = [](Context, Event* waits, Sentinel) -> Task<> { co_await waits->wait(); };
        return start(root(Environment(), &event, in.sentinel()));
    });
    cancelTask("Latch", [](Inputs& in) {
        auto& latch = in.keep<Latch>(std::size_t{1});
        in.onStep([&latch] { latch.countDown(); });
        auto root = [](Context, Latch* waits, Sentinel) -> Task<> { co_await waits->wait(); };
        return start(root(Environment(), &latch, in.sentinel()));
    });
    cancelTask("Barrier", [](Inputs& in) {
        auto& barrier = in.keep<Barrier>(std::size_t{2});
        in.onStep([&barrier] { (void)barrier.arrive(); });
        auto root = [](Context, Barrier* waits, Sentinel) -> Task<> { co_await waits->arrive(); };
        return start(root(Environment(), &barrier, in.sentinel()));
    });
    cancelTask("Semaphore", [](Inputs& in) {
        auto& semaphore = in.keep<Semaphore>(0);
        in.onStep([&semaphore] { semaphore.release(); });
        auto root = [](Context, Semaphore* waits, Future<int> number, Sentinel) -> Task<> {
            co_await waits->acquire();
            struct Release {
                Semaphore* semaphore;
                ~Release() { semaphore->release(); }
            } release{waits};
            co_await number;
        };
        return start(root(Environment(), &semaphore, in.number(0), in.sentinel()));
    });
    cancelTask("Mutex", [](Inputs& in) {
        auto& mutex = in.keep<Mutex>();
        auto holder = [](Context, Mutex* locks, Future<int> number, Sentinel) -> Fork<> {
            auto lock = co_await locks->lock();
            co_await number;
        };
        auto root = [](Context, auto make, Mutex* locks, Future<int> number, Sentinel s) -> Task<> {
            Fork<> first = make(co_await context(), locks, number, s);
            auto lock = co_await locks->lock();
            co_await first;
        };
        return start(root(Environment(), holder, &mutex, in.number(0), in.sentinel()));
    });
}

} // namespace
