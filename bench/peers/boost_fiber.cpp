// Boost.Fiber: each computation has a stack, 16 KiB here, from a pool. Its scheduler is the default one, round robin. A
// fiber cannot be cancelled, and has no priorities: NET2 runs in the order of the starts, which is less work than ours.
// A timer is a fiber that sleeps, with its stack: DELAY has none beside it.

#include "bench/run.h"

#include <bit>
#include <boost/fiber/all.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

namespace {

namespace fibers = boost::fibers;
namespace self = boost::this_fiber;
using bench::Run;
using Stacks = fibers::pooled_fixedsize_stack;

/// Kept from one benchmark to the next: touching new stacks would be most of the time of the first pass.
Stacks& stacks() {
    static Stacks pool(16 * 1024);
    return pool;
}

void performDelay(Run* run) {
    while (run->next())
        self::yield();
}

/// N fibers of `body(i, &sum)`, which adds 1; `then` runs when all wait or are done; all are joined.
template <class Body, class Then>
void performMany(Run* run, Body body, Then then) {
    std::vector<fibers::fiber> all;
    all.reserve(run->size());
    while (run->next()) {
        int sum = 0;
        for (int i = 0; i < run->size(); ++i)
            all.emplace_back(fibers::launch::dispatch, std::allocator_arg, stacks(), [&, i] { body(i, &sum); });
        then();
        for (fibers::fiber& fiber : all)
            fiber.join();
        all.clear();
        run->expect(sum == run->size());
    }
}

void performNet2(Run* run) {
    auto body = [](int, int* sum) {
        self::yield();
        ++*sum;
    };
    performMany(run, body, [] {});
}

void performCallback(Run* run) {
    fibers::mutex mutex;
    fibers::condition_variable signal;
    auto body = [&](int, int* sum) {
        std::unique_lock lock(mutex);
        signal.wait(lock);
        ++*sum;
    };
    performMany(run, body, [&] { signal.notify_all(); });
}

void performTimers(Run* run) {
    auto body = [](int i, int* sum) {
        self::sleep_for(std::chrono::nanoseconds(i + 1));
        ++*sum;
    };
    performMany(run, body, [] {});
}

void performCreateReady(Run* run) {
    int sum = 0;
    while (run->next())
        fibers::fiber(fibers::launch::dispatch, std::allocator_arg, stacks(), [&] { ++sum; }).join();
    run->expect(sum > 0);
}

/// To another fiber that is ready, and back.
void performSwitch(Run* run) {
    bool goesOn = true;
    fibers::fiber other(fibers::launch::dispatch, std::allocator_arg, stacks(), [&] {
        while (goesOn)
            self::yield();
    });
    while (run->next())
        self::yield();
    goesOn = false;
    other.join();
}

void performChain(Run* run) {
    std::vector<fibers::fiber> all;
    all.reserve(run->size());
    while (run->next()) {
        fibers::promise<int> first;
        fibers::future<int> last = first.get_future();
        for (int i = 0; i < run->size(); ++i) {
            fibers::promise<int> next;
            fibers::future<int> from = std::exchange(last, next.get_future());
            all.emplace_back(
                fibers::launch::dispatch, std::allocator_arg, stacks(),
                [from = std::move(from), next = std::move(next)]() mutable { next.set_value(from.get() + 1); });
        }
        first.set_value(0);
        int number = last.get();
        for (fibers::fiber& fiber : all)
            fiber.join();
        all.clear();
        run->expect(number == run->size());
    }
}

void performStream(Run* run) {
    // One place of a channel stays empty, and their number is a power of two.
    fibers::buffered_channel<int> numbers(std::bit_ceil(static_cast<std::size_t>(run->size()) + 1));
    while (run->next()) {
        int sum = 0;
        for (int i = 0; i < run->size(); ++i)
            numbers.push(1);
        for (int i = 0; i < run->size(); ++i)
            sum += numbers.value_pop();
        run->expect(sum == run->size());
    }
}

const bench::PeerStyle style("boost-fiber", {
                                                {"DELAY", performDelay},
                                                {"NET2", performNet2},
                                                {"callback", performCallback},
                                                {"create_ready", performCreateReady},
                                                {"chain", performChain},
                                                {"spawn", performCreateReady},
                                                {"switch", performSwitch},
                                                {"stream", performStream},
                                                {"timers", performTimers},
                                            });

} // namespace
