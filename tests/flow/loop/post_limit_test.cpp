#include "flow/loop/post_limit.h"

#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

using namespace flow;

TEST_CASE("post limit: refuses what does not fit, until something has run") {
    SimLoop loop;
    PostLimit inbox(loop, 2);
    std::vector<int> ran;
    CHECK(inbox.post([&] { ran.push_back(1); }));
    CHECK(inbox.post([&] {
        CHECK(inbox.waiting() == 0); // what runs waits no more
        CHECK(inbox.post([&] { ran.push_back(4); }));
        ran.push_back(2);
    }));
    auto refused = std::make_shared<int>(0);
    CHECK(!inbox.post([refused] { ++*refused; }));
    CHECK(refused.use_count() == 1);
    CHECK(inbox.waiting() == 2);
    loop.post([&] { ran.push_back(3); }); // does not count
    loop.run();
    CHECK(ran == std::vector<int>{1, 2, 3, 4});
    CHECK(inbox.waiting() == 0);
}

TEST_CASE("post limit: calls that the loop destroys make room, and a limit may go before its calls") {
    std::optional<SimLoop> loop;
    loop.emplace();
    PostLimit inbox(*loop, 1);
    std::optional<PostLimit> other;
    other.emplace(*loop, 1);
    CHECK(inbox.post([] {}));
    CHECK(other->post([] {}));
    other.reset();
    loop.reset();
    CHECK(inbox.waiting() == 0);
}

TEST_CASE("post limit: of many threads") {
    RealLoop loop;
    PostLimit inbox(loop, 5);
    int ran = 0; // on the loop's thread
    std::atomic<int> left{4};
    std::vector<std::thread> threads;
    WorkGuard guard(loop);
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int sent = 0; sent < 100;)
                if (inbox.post([&] { ++ran; }))
                    ++sent;
                else
                    std::this_thread::yield();
            if (--left == 0)
                loop.post([&] { loop.stop(); }, TaskPriority::Zero);
        });
    loop.run();
    for (std::thread& each : threads)
        each.join();
    CHECK(ran == 400);
    CHECK(inbox.waiting() == 0);
}
