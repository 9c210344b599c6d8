#include "flow/loop/detail/posted.h"

#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>

using namespace flow;

namespace {

/// Goes to one loop and comes back to another.
struct Traveller : Posted {
    Traveller(Loop& f, Loop& h) : far(f), home(h) {}
    void leave() { postTo<&Traveller::arriveThere, &Traveller::drop>(far, TaskPriority::Default); }
    void arriveThere() {
        there = std::this_thread::get_id();
        postTo<&Traveller::arriveHome, &Traveller::drop>(home, TaskPriority::Default);
        far.stop();
    }
    void arriveHome() { ++arrivals; }
    void drop() { ++drops; }
    void queue() { queueAt<&Traveller::arriveHome, &Traveller::drop>(home, TaskPriority::Default); }
    using Posted::takeBack;

    Loop& far;
    Loop& home;
    std::thread::id there;
    int arrivals = 0;
    int drops = 0;
};

} // namespace

TEST_CASE("posted: goes to another loop and back") {
    RealLoop loop;
    std::thread other;
    Loop* far = nullptr;
    std::atomic<bool> made{false};
    other = std::thread([&] {
        RealLoop own;
        WorkGuard guard(own);
        far = &own;
        made = true;
        own.run();
    });
    while (!made)
        std::this_thread::yield();
    Traveller traveller(*far, loop);
    {
        WorkGuard guard(loop);
        traveller.leave();
        while (traveller.arrivals == 0)
            loop.run(delay(0));
    }
    std::thread::id there = other.get_id();
    other.join();
    CHECK(traveller.there == there);
    CHECK(traveller.drops == 0);
}

TEST_CASE("posted: is dropped with the loop, or taken back") {
    auto loop = std::make_unique<SimLoop>();
    Traveller queued(*loop, *loop), posted(*loop, *loop), back(*loop, *loop);
    queued.queue();
    posted.leave();
    back.queue();
    back.takeBack();
    loop.reset();
    CHECK(queued.drops == 1);
    CHECK(posted.drops == 1);
    CHECK(back.drops == 0);
    CHECK(queued.arrivals + posted.arrivals + back.arrivals == 0);
}
