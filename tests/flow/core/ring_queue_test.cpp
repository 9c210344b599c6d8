#include "flow/core/ring_queue.h"

#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/tracer.h"

#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <stdexcept>
#include <string>

using flow::RingQueue;
using flow::test::Counted;

namespace {

/// Throws at the `left`-th copy or move from now.
struct Fragile {
    static inline int left = -1;
    static inline int live = 0;
    int value;

    explicit Fragile(int v) : value(v) { ++live; }
    Fragile(Fragile const& other) : value(other.value) {
        if (left >= 0 && left-- == 0)
            throw std::runtime_error("fragile");
        ++live;
    }
    ~Fragile() { --live; }
};

} // namespace

TEST_CASE("ring queue: an empty one owns no memory") {
    std::uint64_t before = flow::memory::totalStatistics().allocated;
    RingQueue<int> queue;
    CHECK(queue.isEmpty());
    CHECK(queue.size() == 0);
    CHECK(flow::memory::totalStatistics().allocated == before);
}

TEST_CASE("ring queue: behaves as a deque, whatever the mix of pushes and pops") {
    flow::test::Balance balance;
    RingQueue<std::string> queue;
    std::deque<std::string> model;
    unsigned state = 12345;
    for (int i = 0; i < 5000; ++i) {
        state = state * 1103515245u + 12345u;
        bool grows = i % 1000 < 600;
        if ((state >> 16) % 10 < (grows ? 7u : 3u)) {
            std::string text = "a string long enough to be on the heap " + std::to_string(i);
            queue.push(text);
            model.push_back(text);
        } else if (!model.empty()) {
            REQUIRE(queue.front() == model.front());
            REQUIRE(queue.pop() == model.front());
            model.pop_front();
        }
        REQUIRE(queue.size() == model.size());
        REQUIRE(queue.isEmpty() == model.empty());
    }
}

TEST_CASE("ring queue: wraps around without growing") {
    RingQueue<int> queue;
    queue.push(-2);
    queue.push(-1);
    std::uint64_t before = flow::memory::totalStatistics().allocated;
    for (int i = 0; i < 1000; ++i) {
        queue.push(i);
        CHECK(queue.size() == 3);
        CHECK(queue.pop() == i - 2);
    }
    CHECK(flow::memory::totalStatistics().allocated == before);
}

TEST_CASE("ring queue: mayPush() is false whenever the queue is empty, or has been stopped") {
    RingQueue<int> queue;
    unsigned state = 1;
    for (int i = 0; i < 5000; ++i) {
        state = state * 1103515245u + 12345u;
        if (queue.isEmpty() || (state >> 16) % 2)
            queue.push(i);
        else
            (void)queue.pop();
        REQUIRE(!(queue.isEmpty() && queue.mayPush()));
        if (i % 100 == 0) {
            queue.stop();
            CHECK(!queue.mayPush());
        }
    }
}

TEST_CASE("ring queue: grows while wrapped around") {
    RingQueue<int> queue;
    for (int i = 0; i < 4; ++i)
        queue.push(i);
    for (int i = 0; i < 3; ++i)
        CHECK(queue.pop() == i);
    for (int i = 4; i < 100; ++i)
        queue.push(i);
    for (int i = 3; i < 100; ++i)
        CHECK(queue.pop() == i);
    CHECK(queue.isEmpty());
}

TEST_CASE("ring queue: move-only elements") {
    RingQueue<std::unique_ptr<int>> queue;
    for (int i = 0; i < 20; ++i)
        queue.push(std::make_unique<int>(i));
    for (int i = 0; i < 10; ++i)
        CHECK(*queue.pop() == i);
    CHECK(*queue.front() == 10);
}

TEST_CASE("ring queue: grows with containers of what cannot be copied") {
    RingQueue<std::deque<std::unique_ptr<int>>> queue; // its move constructor may throw, and C++ takes it for copyable
    for (int i = 0; i < 9; ++i)
        queue.push(std::deque<std::unique_ptr<int>>(std::size_t(i)));
    for (std::size_t i = 0; i < 9; ++i)
        CHECK(queue.pop().size() == i);
}

TEST_CASE("ring queue: elements are moved, and destroyed once") {
    flow::test::Log log;
    {
        RingQueue<flow::test::Tracer> queue;
        queue.push(flow::test::Tracer(log, "a"));
        log.clear();
        CHECK(queue.pop().name() == "a");
        CHECK(log == flow::test::Log{"move a", "destroy moved", "destroy a"});
        queue.push(flow::test::Tracer(log, "b"));
        log.clear();
    }
    CHECK(log == flow::test::Log{"destroy b"});
    int live = Counted::live;
    {
        RingQueue<Counted> queue;
        for (int i = 0; i < 1000; ++i)
            queue.push(Counted(i));
        for (int i = 0; i < 300; ++i)
            CHECK(queue.pop().value == i);
        CHECK(Counted::live == live + 700);
    }
    CHECK(Counted::live == live);
}

TEST_CASE("ring queue: pushing one's own element, also when that grows the ring") {
    RingQueue<std::string> queue;
    queue.push(std::string(50, 'x'));
    for (int i = 0; i < 40; ++i)
        queue.push(queue.front());
    while (!queue.isEmpty())
        CHECK(queue.pop() == std::string(50, 'x'));
}

TEST_CASE("ring queue: a push that throws changes nothing, wherever it throws") {
    flow::test::Balance balance;
    int thrown = 0;
    for (int taken = 0; taken <= 4; ++taken)        // the ring of four is as it was made, wrapped around, or empty
        for (int pushed = 0; pushed <= 4; ++pushed) // until it is full, and a larger one is needed
            for (int failing = 0; failing < 5; ++failing) {
                {
                    RingQueue<Fragile> queue;
                    for (int i = 0; i < 4; ++i)
                        queue.push(Fragile(i));
                    for (int i = 0; i < taken; ++i)
                        CHECK(queue.pop().value == i);
                    for (int i = 0; i < pushed; ++i)
                        queue.push(Fragile(4 + i));
                    int end = 4 + pushed;
                    Fragile another(end);
                    Fragile::left = failing;
                    try {
                        queue.push(another);
                        ++end;
                    } catch (std::runtime_error const&) {
                        ++thrown;
                        CHECK(Fragile::live == 1 + end - taken);
                        CHECK(!(queue.isEmpty() && queue.mayPush()));
                    }
                    Fragile::left = -1;
                    CHECK(queue.size() == static_cast<std::uint32_t>(end - taken));
                    queue.push(Fragile(end++));
                    for (int i = taken; i < end; ++i)
                        CHECK(queue.pop().value == i);
                    CHECK(queue.isEmpty());
                }
                CHECK(Fragile::live == 0);
            }
    CHECK(thrown > 5 * 5); // each first copy, and copies into a larger ring
}

TEST_CASE("ring queue: a pop that throws leaves the element where it was") {
    RingQueue<Fragile> queue;
    queue.push(Fragile(1));
    Fragile::left = 0;
    CHECK_THROWS_AS((void)queue.pop(), std::runtime_error);
    CHECK(queue.size() == 1);
    Fragile::left = -1;
    CHECK(queue.pop().value == 1);
    CHECK(Fragile::live == 0);
}

TEST_CASE("ring queue: taking from an empty one ends the program") {
    RingQueue<int> queue;
    CHECK_DIES((void)queue.front(), "nothing to take");
    CHECK_DIES((void)queue.pop(), "nothing to take");
    queue.push(1);
    (void)queue.pop();
    CHECK_DIES((void)queue.pop(), "nothing to take");
}
