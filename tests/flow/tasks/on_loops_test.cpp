#include "flow/tasks/on_loops.h"

#include "flow/combine/errors.h"
#include "flow/sync/event.h"
#include "flow/threads/processors.h"

#include <atomic>
#include <doctest/doctest.h>
#include <pthread.h>
#include <sched.h>
#include <set>
#include <string>
#include <thread>

using namespace flow;

namespace {

std::string nameOfThread() {
    char name[16];
    pthread_getname_np(pthread_self(), name, sizeof name);
    return name;
}

} // namespace

TEST_CASE("on loops: an instance on each loop, which call each other") {
    std::atomic<int> ended{0}, sum{0};
    std::vector<std::string> names(3);
    runOnLoops({.loops = 3, .names = "shard"}, [&](LoopPool& loops, int index) -> Future<Void> {
        CHECK(&Loop::current() == &loops[index]);
        names[static_cast<std::size_t>(index)] = nameOfThread();
        if (index != 0) {
            std::vector<int> squares = co_await callAll(loops, [](int i) { return i * i; });
            CHECK(squares == std::vector<int>{0, 1, 4});
            sum += squares[2];
        }
        ++ended;
    });
    CHECK(ended == 3);
    CHECK(sum == 8);
    CHECK(names == std::vector<std::string>{"shard0", "shard1", "shard2"});
}

TEST_CASE("on loops: the first error ends the others, each on its own loop") {
    std::atomic<int> cancelled{0};
    std::atomic<bool> isOnOwnLoop{true};
    auto service = [&](LoopPool& loops, int index) -> Future<Void> {
        if (index == 1) {
            co_await callAll(loops, [](int) {}); // the others run
            throw io_error();
        }
        try {
            co_await Future<Void>(Never());
        } catch (Error& error) {
            cancelled += error == actor_cancelled();
            if (&Loop::current() != &loops[index])
                isOnOwnLoop = false;
            throw;
        }
    };
    Error error;
    try {
        runOnLoops({.loops = 3}, service);
    } catch (Error& thrown) {
        error = thrown;
    }
    CHECK(error == io_error());
    CHECK(cancelled == 2);
    CHECK(isOnOwnLoop);
    CHECK_THROWS_AS(runOnLoops({.loops = 1}, [](LoopPool&, int) -> Future<Void> { throw timed_out(); }), Error);
}

TEST_CASE("on loops: callAll() gives values, waits for futures, and fails with an error") {
    RealLoop home;
    LoopPool loops(2);
    auto threads = home.run(callAll(loops, [](int) { return std::this_thread::get_id(); }));
    CHECK(std::set(threads.begin(), threads.end()).size() == 2);
    auto later = [](int index) -> Future<int> {
        co_await delay(0.001);
        co_return index + 5;
    };
    CHECK(home.run(callAll(loops, later)) == std::vector<int>{5, 6});
    CHECK(home.run(callAll(loops, [](int) {})).size() == 2);
    auto fails = callAll(loops, [](int index) -> Future<int> {
        if (index == 1)
            return timed_out();
        return Never();
    });
    CHECK_THROWS_AS(home.run(fails), Error);
}

TEST_CASE("on loops: the options") {
    auto refused = [](LoopPoolOptions options) {
        try {
            LoopPool loops(options);
        } catch (Error& error) {
            CHECK(error == invalid_option_value());
            return std::string(error.what());
        }
        return std::string("not refused");
    };
    CHECK(refused({.loops = -1}).find("LoopPoolOptions: loops is -1; it must not be negative") != std::string::npos);
    CHECK(refused({.loops = 1, .names = "a name that is long"}).find("names is a name") != std::string::npos);
    CHECK(refused({.loops = 1, .names = ""}).find("1 to 12 bytes") != std::string::npos);
    std::vector<int> processors = allowedProcessors();
    auto count = static_cast<int>(processors.size());
    CHECK(refused({.loops = count + 1, .pin = true}).find("pin is true") != std::string::npos);
    CHECK(LoopPool(LoopPoolOptions{}).size() == usableProcessors());
    RealLoop home;
    LoopPool pinned({.loops = 1, .pin = true});
    std::vector<int> own = home.run(onLoop(pinned[0], [] { return allowedProcessors(); }));
    CHECK(own == std::vector<int>{processors[0]});
}
