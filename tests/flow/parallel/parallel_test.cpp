#include "flow/parallel/parallel.h"

#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

namespace {
using namespace flow;

template <class T>
using ParallelFork = Fork<T, WorkPool>;
template <class T = Void>
using ParallelTask = Task<T, WorkPool>;

/// 10 children a level, down to single numbers.
ParallelTask<long> skynet(ParallelContext, long first, long size);
ParallelFork<long> skynetFork(ParallelContext, long first, long size) {
    long sum = co_await skynet(co_await context(), first, size);
    co_return sum;
}
ParallelTask<long> skynet(ParallelContext, long first, long size) {
    if (size == 1)
        co_return first;
    ParallelContext here = co_await context();
    std::vector<ParallelFork<long>> parts;
    for (long i = 0; i < 10; ++i)
        parts.push_back(skynetFork(here, first + i * (size / 10), size / 10));
    long sum = 0;
    for (ParallelFork<long>& part : parts)
        sum += co_await part;
    co_return sum;
}

template <class F>
auto onPool(WorkPool& pool, F function) {
    auto body =
        [](Context, WorkPool* pool,
           F function) -> Task<typename parallel::ResultOfWork<std::invoke_result_t<F&, ParallelContext>>::Type> {
        auto fork = runOn(co_await context(), *pool, std::move(function));
        co_return co_await fork;
    };
    return start(body(Environment(), &pool, std::move(function)));
}
template <class F>
Future<Void> voidOnPool(WorkPool& pool, F function) {
    auto body = [](Context, WorkPool* pool, F function) -> Task<> {
        auto fork = runOn(co_await context(), *pool, std::move(function));
        co_await fork;
    };
    return start(body(Environment(), &pool, std::move(function)));
}

constexpr std::size_t kAlignment = memory::kMostAlignment;
ParallelTask<bool> alignedLocal(ParallelContext) {
    struct alignas(kAlignment) {
        char bytes[kAlignment];
    } local{};
    auto address = reinterpret_cast<std::uintptr_t>(&local);
    asm("" : "+r"(address) : : "memory");
    co_return address % kAlignment == 0;
}

TEST_CASE("a local of a parallel task is aligned") {
    RealLoop loop;
    WorkPool pool(1);
    for (int i = 0; i < 3; ++i)
        CHECK(loop.run(onPool(pool, [](ParallelContext here) { return alignedLocal(here); })));
}

TEST_CASE("a tree of forks gives its sum, with any number of threads") {
    RealLoop loop;
    for (int threads = 1; threads <= 3; ++threads) {
        WorkPool pool(threads);
        CHECK(loop.run(onPool(pool, [](ParallelContext here) { return skynet(here, 0, 1000); })) == 499500);
    }
}

TEST_CASE("a plain function gives its value, or its error") {
    RealLoop loop;
    WorkPool pool(2);
    std::thread::id mine = std::this_thread::get_id();
    CHECK(loop.run(onPool(pool, [mine](ParallelContext) { return mine != std::this_thread::get_id(); })));
    Future<Void> failed = voidOnPool(pool, [](ParallelContext) { throw timed_out(); });
    CHECK_THROWS_AS(loop.run(failed), Error);
    CHECK(failed.getError() == timed_out());
}

std::atomic<int> ended{0};

ParallelFork<std::string> slow(ParallelContext here, int turns) {
    struct End {
        ~End() { ++ended; }
    } end;
    for (int i = 0; i < turns; ++i)
        co_await after(here.pool());
    std::string text = std::to_string(turns);
    co_return {text}; // a list of a name is a result
}
ParallelFork<std::string> fails(ParallelContext) {
    throw timed_out();
    co_return "";
}

TEST_CASE("a parent waits for children that it does not await, and for all of them when it asks") {
    RealLoop loop;
    WorkPool pool(2);
    for (int i = 0; i < 50; ++i) {
        ended = 0;
        auto leaves = [](ParallelContext, int turns) -> ParallelTask<> {
            ParallelContext here = co_await context();
            for (int i = 0; i < 5; ++i)
                (void)slow(here, turns);
        };
        loop.run(voidOnPool(pool, [&](ParallelContext here) { return leaves(here, i % 5); }));
        CHECK(ended.load() == 5);
        auto joins = [](ParallelContext, int turns) -> ParallelTask<std::string> {
            ParallelContext here = co_await context();
            ParallelFork<std::string> kept = slow(here, turns);
            (void)slow(here, turns);
            co_await destroyForks();
            CHECK(ended.load() == 7);
            CHECK(kept.isReady());
            std::string const& first = co_await kept;
            std::string const& again = co_await kept;
            CHECK(&first == &again);
            std::string moved = co_await std::move(kept);
            co_return moved;
        };
        CHECK(loop.run(onPool(pool, [&](ParallelContext here) { return joins(here, i % 5); })) ==
              std::to_string(i % 5));
    }
}

TEST_CASE("an error is thrown where the child is awaited, and its siblings are waited for") {
    RealLoop loop;
    WorkPool pool(2);
    for (int i = 0; i < 50; ++i) {
        ended = 0;
        auto body = [](ParallelContext, int turns) -> ParallelTask<std::string> {
            ParallelContext here = co_await context();
            ParallelFork<std::string> other = slow(here, turns);
            ParallelFork<std::string> failed = fails(here);
            try {
                (void)co_await failed;
            } catch (Error const& error) {
                CHECK(error == timed_out());
            }
            std::string text = co_await failed;
            co_return text;
        };
        Future<std::string> result = onPool(pool, [&](ParallelContext here) { return body(here, i % 7); });
        CHECK_THROWS_AS(loop.run(result), Error);
        CHECK(result.getError() == timed_out());
        CHECK(ended.load() == 1);
    }
}

ParallelFork<int> spins(ParallelContext here) {
    struct End {
        ~End() { ++ended; }
    } end;
    for (;;)
        co_await after(here.pool());
}

TEST_CASE("a cancel reaches the whole tree, and the fork ends after it") {
    RealLoop loop;
    WorkPool pool(2);
    auto tree = [](ParallelContext) -> ParallelTask<int> {
        ParallelContext here = co_await context();
        ParallelFork<int> one = spins(here);
        ParallelFork<int> two = spins(here);
        co_return co_await one;
    };
    auto body = [](Context, WorkPool* pool, auto tree, double seconds) -> Task<> {
        Fork<int> fork = runOn(co_await context(), *pool, [tree](ParallelContext here) { return tree(here); });
        co_await delay(seconds);
        fork.cancel();
        Error error;
        try {
            co_await fork;
        } catch (...) {
            error = currentError();
        }
        CHECK(error == actor_cancelled());
    };
    for (int i = 0; i < 30; ++i) {
        ended = 0;
        loop.run(start(body(Environment(), &pool, tree, i % 3 * 0.0005)));
        int both = ended; // one that had not begun never does
        loop.run(delay(0.0005));
        CHECK(ended.load() == both);
    }
}

TEST_CASE("on a simulated loop a tree runs in turns of it, the same each time") {
    auto run = [] {
        SimLoop loop;
        test::Balance balance;
        WorkPool pool(2);
        std::string order;
        auto says = [](ParallelContext here, std::string* order, int id) -> ParallelFork<int> {
            *order += std::to_string(id);
            co_await after(here.pool());
            *order += std::to_string(id);
            co_return id;
        };
        auto tree = [says](ParallelContext, std::string* order) -> ParallelTask<int> {
            ParallelContext here = co_await context();
            ParallelFork<int> one = says(here, order, 1);
            ParallelFork<int> two = says(here, order, 2);
            int first = co_await one;
            co_return first + co_await two;
        };
        CHECK(loop.run(onPool(pool, [&](ParallelContext here) { return tree(here, &order); })) == 3);
        CHECK(order == "1212");
        return order + std::to_string(loop.stepsRun());
    };
    std::string first = run();
    CHECK(run() == first);
}

TEST_CASE("a tree on a simulated loop can be cancelled at every step") {
    for (int steps = 0; steps < 12; ++steps) {
        SimLoop loop;
        test::Balance balance;
        WorkPool pool(2);
        Future<long> running = onPool(pool, [](ParallelContext here) { return skynet(here, 0, 10); });
        auto turns = [](int count) -> Future<Void> {
            for (int i = 0; i < count; ++i)
                co_await delay(0);
        };
        loop.run(turns(steps));
        running.cancel();
        CHECK(running.isReady());
        loop.run();
    }
}

TEST_CASE("frames come from the memory resource that runOn() gets, and go back to it") {
    struct Counted final : std::pmr::memory_resource {
        std::atomic<int> live{0};
        std::atomic<int> all{0};
        void* do_allocate(std::size_t bytes, std::size_t alignment) override {
            ++live;
            ++all;
            return fastMemory().allocate(bytes, alignment);
        }
        void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
            --live;
            fastMemory().deallocate(block, bytes, alignment);
        }
        bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }
    };
    RealLoop loop;
    WorkPool pool(2);
    Counted counted;
    auto body = [](Context, WorkPool* pool, Counted* counted) -> Task<long> {
        Fork<long> sum =
            runOn(co_await context(), *pool, [](ParallelContext here) { return skynet(here, 0, 100); }, *counted);
        co_return co_await sum;
    };
    CHECK(loop.run(start(body(Environment(), &pool, &counted))) == 4950);
    CHECK(counted.all.load() == 1 + 1 + 2 * 110);
    CHECK(counted.live.load() == 0);
}

} // namespace
