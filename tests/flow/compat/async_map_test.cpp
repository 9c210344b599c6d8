#include "flow/compat/async_map.h"

#include "flow/base/random.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace flow;
using namespace flow::test;

TEST_CASE("AsyncMap: values, and the default where there is none") {
    AsyncMap<std::string, int> map;
    CHECK(map.get("a") == 0);
    CHECK(map.count("a") == 0);
    map.set("a", 1);
    map.set("b", 2);
    CHECK(map.get("a") == 1);
    CHECK(map.size() == 2);
    CHECK(map.getKeys() == std::vector<std::string>{"a", "b"});
    map.clear("a");
    CHECK(map.get("a") == 0);
    CHECK(map.count("a") == 0);
    map.set("b", 0);
    CHECK(map.size() == 0);
}

TEST_CASE("AsyncMap: each key has its own watches") {
    test::Balance balance;
    AsyncMap<int, int> map;
    map.set(2, 20);
    Future<Void> one = map.onChange(1), two = map.onChange(2), twoAgain = map.onChange(2);
    CHECK(map.count(1) == 1); // the watch takes an entry
    map.set(2, 20);
    CHECK_FALSE(two.isReady());
    map.set(2, 21);
    CHECK(two.canGet());
    CHECK(twoAgain.canGet());
    CHECK_FALSE(one.isReady());
    map.set(1, 10);
    CHECK(one.canGet());
    two = map.onChange(2);
    map.clear(2);
    CHECK(two.canGet());
    one = map.onChange(1);
    map.setUnconditional(1, 10);
    CHECK(one.canGet());
    two = map.onChange(2);
    map.setUnconditional(2, 0);
    CHECK(two.canGet());
    CHECK(map.count(2) == 0);
}

TEST_CASE("AsyncMap: triggers of one key, a range and all") {
    test::Balance balance;
    AsyncMap<int, int> map;
    map.set(3, 30);
    std::vector<Future<Void>> watches;
    auto fired = [&] {
        std::string text;
        for (Future<Void> const& watch : watches)
            text += watch.isReady() ? watch.isError() ? 'e' : 'x' : '.';
        return text;
    };
    for (int key = 0; key < 6; ++key)
        watches.push_back(map.onChange(key));
    map.trigger(5);
    map.trigger(77);
    CHECK(fired() == ".....x");
    map.triggerRange(2, 4);
    CHECK(fired() == "..xx.x");
    CHECK(map.size() == 4); // 0, 1 and 4 are watched, 3 has a value
    map.sendError(1, 2, io_error());
    CHECK(fired() == ".exx.x");
    watches[3] = map.onChange(3);
    map.triggerAll();
    CHECK(fired() == "xexxxx");
    CHECK(map.getKeys() == std::vector<int>{3});
}

TEST_CASE("AsyncMap: nothing is left of dropped and cancelled watches") {
    test::Balance balance;
    AsyncMap<int, int> map;
    Future<Void> a = map.onChange(1), b = map.onChange(1);
    a = Future<Void>();
    CHECK(map.count(1) == 1);
    b.cancel();
    CHECK(b.getError() == actor_cancelled());
    CHECK(map.count(1) == 0);
    map.set(1, 5);
    a = map.onChange(1);
    a = Future<Void>();
    CHECK(map.get(1) == 5);
    a = map.onChange(2);
    map.set(2, 6); // fired: the map does not notice that the future is destroyed
    a = Future<Void>();
    CHECK(map.get(2) == 6);
}

TEST_CASE("AsyncMap: a resumed waiter may change the map, and drop other watches") {
    test::Balance balance;
    TraceLog log;
    AsyncMap<int, int> map;
    Future<Void> other = map.onChange(2);
    auto follow = [&]() -> Future<Void> {
        while (map.get(1) < 3) {
            co_await map.onChange(1);
            log.say(std::to_string(map.get(1)));
            other = Future<Void>();
            map.set(2, map.get(1));
            map.clear(2);
        }
    };
    Future<Void> follower = follow();
    map.set(1, 1);
    map.set(1, 2);
    map.clear(1);
    map.triggerAll();
    map.set(1, 3);
    CHECK(log.take() == "1 2 0 0 3");
    CHECK(follower.canGet());
    CHECK(map.size() == 1);
}

TEST_CASE("AsyncMap: destruction breaks the watches, which may drop each other in this") {
    test::Balance balance;
    std::optional<AsyncMap<int, int>> map(std::in_place);
    map->set(1, 1);
    Future<Void> a = map->onChange(1), b = map->onChange(2), c = map->onChange(3);
    auto dropper = [&](Future<Void> what) -> Future<Void> {
        (void)co_await tryGet(std::move(what));
        c = Future<Void>();
    };
    Future<Void> dropping = dropper(a);
    map.reset();
    CHECK(a.getError() == broken_promise());
    CHECK(b.getError() == broken_promise());
    CHECK(dropping.isReady());
}

TEST_CASE("YieldedAsyncMap: watches fire after a yield, oldest first") {
    test::Balance balance;
    SimLoop loop;
    TraceLog log;
    YieldedAsyncMap<int, int> map;
    auto follow = [&](int n) -> Future<Void> {
        co_await map.onChange(1);
        log.say(std::to_string(n));
    };
    std::vector<Future<Void>> followers;
    for (int i = 0; i < 200; ++i)
        followers.push_back(follow(i));
    auto beUrgent = [&]() -> Future<Void> {
        co_await delay(0, TaskPriority::Max);
        log.say("urgent");
    };
    Future<Void> urgent = beUrgent();
    map.set(1, 1);
    std::string first = log.take();
    CHECK_FALSE(followers.back().isReady());
    loop.run();
    std::string all = first + (first.empty() ? "" : " ") + log.take();
    std::string expected;
    for (int i = 0; i < 200; ++i)
        expected += (i ? " " : "") + std::to_string(i);
    CHECK(all.find("urgent") < all.find("199"));
    all.erase(all.find("urgent "), 7);
    CHECK(all == expected);
    Future<Void> watch = map.onChange(2);
    CHECK(map.count(2) == 1);
    watch.cancel();
    CHECK(map.count(2) == 0);
}
