// Running out of memory in the middle of making things: nothing leaks, and everything is usable afterwards.
#include "flow/coro/coroutine.h"
#include "flow/lib/all.h"
#include "flow/lib/collection.h"
#include "flow/lib/time.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

using namespace flow;
using namespace flow::test;

#if !FLOW_SYSTEM_BLOCKS // there blocks come straight from malloc, which has no source to cut off

namespace {

/// Takes every free block of this thread; gives back a number of each class at a time.
class Scarcity {
public:
    explicit Scarcity(int blocksOfEachClass)
        : before_(memory::setChunkSource([](std::size_t) -> void* { return nullptr; })) {
        for (int c = memory::kSystemClass - 1; c > 0; --c) {
            auto sizeClass = static_cast<memory::SizeClass>(c);
            try {
                for (;;)
                    taken_.emplace_back(nullptr, sizeClass),
                        taken_.back().first = memory::allocate(memory::blockBytes(sizeClass));
            } catch (std::bad_alloc&) {
                taken_.pop_back();
            }
            for (int i = 0; i < blocksOfEachClass && !taken_.empty() && taken_.back().second == sizeClass; ++i) {
                memory::release(taken_.back().first, sizeClass);
                taken_.pop_back();
            }
        }
    }
    ~Scarcity() {
        memory::setChunkSource(before_);
        for (auto [block, sizeClass] : taken_)
            memory::release(block, sizeClass);
    }

private:
    memory::ChunkSource before_;
    std::vector<std::pair<void*, memory::SizeClass>> taken_;
};

Future<int> waits(Future<Void> awaited) {
    co_await std::move(awaited);
    co_return 1;
}
Future<Void> sleeps(double seconds) {
    co_await delay(seconds);
}

/// Makes the thing with 0, 1, 2 ... blocks of each class until it works.
void untilItWorks(std::function<void()> const& make) {
    make(); // whatever is made once and kept
    int failures = 0;
    for (int blocks = 0;; ++blocks) {
        Blocks before;
        {
            Scarcity scarcity(blocks);
            Blocks inner;
            bool works = true;
            try {
                make();
            } catch (std::bad_alloc&) {
                works = false;
            } catch (Error& error) {
                CHECK(error == unknown_error());
                works = false;
            }
            CHECK(inner.leaked() == 0);
            failures += !works;
            if (works)
                break;
        }
        CHECK(before.leaked() == 0);
        REQUIRE(blocks < 20);
    }
    CHECK(failures > 0);
    make();
}

} // namespace

TEST_CASE("memory: actors, coroutines and futures that cannot be made leak nothing") {
    // A class may be empty to begin with: then a block of it appears as soon as memory is back.
    for (int i = 0; i < 64; ++i)
        for (std::size_t bytes = 16; bytes <= 512; bytes += 16)
            memory::release(memory::allocate(bytes), memory::sizeClassOf(bytes));
    untilItWorks([] {
        Promise<Void> p;
        Future<int> a = waits(p.getFuture());
        Future<int> b = waits(p.getFuture());
        Future<int> c = waits(p.getFuture());
    });
    untilItWorks([] {
        SimLoop loop; // with its own timers: slots of cancelled ones are freed with it at the latest
        Future<Void> a = delay(1);
        Future<Void> b = delay(1);
        Future<Void> c = delay(0);
    });
    untilItWorks([] {
        SimLoop loop;
        std::vector<Future<Void>> all;
        for (int i = 0; i < 4; ++i)
            all.push_back(sleeps(1));
        for (Future<Void> const& one : all)
            if (one.isReady())
                one.get(); // the timer could not be had
    });
    untilItWorks([] {
        SimLoop loop;
        Promise<int> p;
        Future<Void> a = p.getFuture() && delay(1);
        Future<Void> b = delay(2) || (p.getFuture() && delay(3));
        std::vector<Future<int>> many(5, p.getFuture());
        Future<Void> c = waitForAll(many);
        Future<int> d = timeout(p.getFuture(), 1, -1);
        if (d.isReady())
            d.get();
    });
    untilItWorks([] {
        Promise<Void> p;
        ActorCollection all(false);
        for (int i = 0; i < 3; ++i)
            all.add(p.getFuture());
    });
    SimLoop().run(Future<Void>(Void()));
}

#endif
