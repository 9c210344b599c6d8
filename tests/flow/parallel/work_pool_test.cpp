#include "flow/parallel/work_pool.h"

#include "flow/base/sanitizer.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <vector>

#if FLOW_THREAD_SANITIZER
/// oneTBB's library is not instrumented, so that ThreadSanitizer does not see how it hands its objects to other
/// threads. What oneTBB's own functions touch is left out; what we hand over is not.
extern "C" char const* __tsan_default_suppressions();
extern "C" char const* __tsan_default_suppressions() {
    return "race_top:oneapi/tbb\n";
}
#endif

namespace {
using namespace flow;

struct Counting : WorkItem {
    std::atomic<int>* count = nullptr;
    WorkPool* pool = nullptr; // submits itself again, so many times
    int again = 0;

    void begin(WorkPool& p, std::atomic<int>* c, int times) {
        count = c;
        pool = &p;
        again = times;
        run = [](WorkItem* item) {
            auto* self = static_cast<Counting*>(item);
            ++*self->count;
            if (self->again-- > 0)
                self->pool->submit(*self);
        };
        p.submit(*this);
    }
};

TEST_CASE("a pool runs all submitted work before its destructor returns") {
    for (int threads = 1; threads <= 3; ++threads) {
        std::atomic<int> count{0};
        std::vector<Counting> items(100);
        {
            WorkPool pool(threads);
            CHECK(pool.threads() == threads);
            for (Counting& item : items)
                item.begin(pool, &count, 9);
        }
        CHECK(count.load() == 1000);
    }
    CHECK(WorkPool().threads() > 0);
}

/// Submits itself until another item has run.
struct Endless : WorkItem {
    static constexpr long kMost = 1'000'000; // the test fails rather than go on forever

    WorkPool* pool;
    std::atomic<long> rounds{0};
    std::atomic<bool> isOver{false};

    explicit Endless(WorkPool& p) : pool(&p) {
        run = [](WorkItem* item) {
            auto* self = static_cast<Endless*>(item);
            if (++self->rounds < kMost && !self->isOver)
                self->pool->submit(*self);
        };
        p.submit(*this);
    }
};
struct Ends : WorkItem {
    Endless* endless;
    long seen = 0;

    explicit Ends(Endless& e) : endless(&e) {
        run = [](WorkItem* item) {
            auto* self = static_cast<Ends*>(item);
            self->seen = self->endless->rounds;
            self->endless->isOver = true;
        };
    }
};

TEST_CASE("an item that submits itself again and again keeps no other waiting") {
    std::unique_ptr<Endless> endless;
    std::unique_ptr<Ends> ends;
    long before = 0;
    {
        WorkPool pool(1);
        endless = std::make_unique<Endless>(pool);
        ends = std::make_unique<Ends>(*endless);
        while (endless->rounds < 1000)
            std::this_thread::yield();
        pool.submit(*ends);
        before = endless->rounds;
        while (!endless->isOver && endless->rounds < Endless::kMost)
            std::this_thread::yield();
    }
    CHECK(ends->seen - before <= 1000);
}

TEST_CASE("on a simulated loop items are tasks of the loop, in order") {
    SimLoop loop;
    std::atomic<int> count{0};
    Counting items[3];
    {
        WorkPool pool(4);
        for (Counting& item : items)
            item.begin(pool, &count, 0);
        CHECK(count.load() == 0);
        loop.run(delay(1));
        CHECK(count.load() == 3);
        items[0].begin(pool, &count, 1);
    }
    CHECK(count.load() == 5); // at its end it runs what is left
}

} // namespace
