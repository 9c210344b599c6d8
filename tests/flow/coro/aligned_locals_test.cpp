// Locals of coroutines that are aligned to more than 16 bytes: in every kind of coroutine, with results of all sizes,
// however it ends, and found by what walks the allocator's blocks.
#include "flow/core/detail/live_blocks.h"
#include "flow/coro/coroutine.h"
#include "flow/inspect/detail/frames.h"
#include "flow/memory/fast_resource.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/context.h"
#include "flow/tasks/fork.h"
#include "flow/tasks/generator.h"
#include "flow/tasks/task.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>
#include <type_traits>

namespace {
using namespace flow;

int misaligned = 0;
int alive = 0;

template <std::size_t Alignment>
struct alignas(Alignment) Wide {
    Wide() { ++alive; }
    ~Wide() {
        check();
        --alive;
    }
    // The compiler must not take the alignment for granted.
    __attribute__((noinline)) void check() {
        std::uintptr_t address = reinterpret_cast<std::uintptr_t>(this);
        asm("" : "+r"(address));
        misaligned += address % Alignment != 0;
        values[0] = values[3] + 1;
    }
    double values[4] = {};
};

/// The size of the frame depends on what else is in it.
template <std::size_t Alignment, std::size_t Others, class T>
Future<T> waiting(Future<T> input, ExplicitVoid = {}) {
    Wide<Alignment> local;
    std::array<char, Others> others{};
    asm volatile("" : : "r"(&others) : "memory");
    local.check();
    T result = co_await std::move(input);
    local.check();
    asm volatile("" : : "r"(&others) : "memory");
    co_return result;
}

template <std::size_t Alignment, std::size_t Others, class T>
void endInEachWay(T const& value) {
    test::Balance balance;
    for (int end = 0; end < 3; ++end) {
        Promise<T> promise;
        Future<T> future = waiting<Alignment, Others, T>(promise.getFuture());
        CHECK(alive == 1);
        if (Others < memory::kLargestBlock) // the walk does not see blocks of the system
            CHECK(inspect::Frames::ofThread().size() == 1);
        if (end == 0)
            promise.send(value);
        else if (end == 1)
            promise.sendError(timed_out());
        future.cancel();
        CHECK(alive == 0);
        CHECK(future.isError() == (end != 0));
    }
    CHECK(waiting<Alignment, Others, T>(value).isReady());
}

template <std::size_t Alignment, class T>
void useAllSizes(T const& value) {
    endInEachWay<Alignment, 1, T>(value);
    endInEachWay<Alignment, 17, T>(value);
    endInEachWay<Alignment, 33, T>(value);
    endInEachWay<Alignment, 49, T>(value);
    endInEachWay<Alignment, 65, T>(value);
    endInEachWay<Alignment, 5000, T>(value); // a block of the system
}

template <class Run>
void forEachAlignment(Run run) {
    misaligned = 0;
    run(std::integral_constant<std::size_t, 16>());
    run(std::integral_constant<std::size_t, 32>());
    run(std::integral_constant<std::size_t, 64>());
    CHECK(misaligned == 0);
    CHECK(alive == 0);
}

template <std::size_t Alignment>
Fork<int> forked(Context, int n) {
    Wide<Alignment> local;
    local.check();
    co_await delay(0);
    local.check();
    co_return n;
}
template <std::size_t Alignment>
AsyncGenerator<int> numbers(Context, int count) {
    Wide<Alignment> local;
    for (int i = 0; i < count; ++i) {
        local.check();
        co_yield i;
    }
}
template <std::size_t Alignment>
Task<int> task(Context, int n) {
    Wide<Alignment> local;
    Context here = co_await context();
    auto child = forked<Alignment>(here, n);
    local.check();
    int sum = co_await child;
    auto more = numbers<Alignment>(here, 3);
    for (;;) {
        std::optional<int> next = co_await more.next();
        if (!next)
            break;
        sum += *next;
    }
    local.check();
    co_return sum;
}

template <std::size_t Alignment>
Generator<int> plainNumbers(int count) {
    Wide<Alignment> local;
    for (int i = 0; i < count; ++i) {
        local.check();
        co_yield i;
    }
}

TEST_CASE("aligned locals: of a coroutine, whatever its result and however it ends") {
    SimLoop loop;
    forEachAlignment([](auto alignment) {
        useAllSizes<alignment, Void>(Void());
        useAllSizes<alignment, int>(7);
        useAllSizes<alignment, std::string>("text");
        useAllSizes<alignment, std::array<long, 5>>({1});
    });
}

TEST_CASE("aligned locals: of tasks, forks and generators") {
    SimLoop loop;
    test::Balance balance;
    forEachAlignment([&](auto alignment) {
        Environment environment(fastMemory());
        CHECK(loop.run(start(task<alignment>(environment, 4))) == 7);
        int sum = 0;
        for (int i : plainNumbers<alignment>(4))
            sum += i;
        CHECK(sum == 6);
    });
}

TEST_CASE("aligned locals: a process that is ended loses those coroutines too") {
    SimLoop loop;
    forEachAlignment([](auto alignment) {
        LiveBlocks blocks;
        CellGroup group;
        CellGroup* before = blocks.enter(&group);
        Promise<int> promise;
        Future<int> future = waiting<alignment, 8, int>(promise.getFuture());
        blocks.enter(before);
        CHECK(alive == 1);
        group.destroyFrames();
        CHECK(alive == 0);
    });
}

} // namespace
