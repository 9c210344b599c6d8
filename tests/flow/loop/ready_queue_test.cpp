#include "flow/loop/detail/ready_queue.h"

#include "flow/base/random.h"

#include <doctest/doctest.h>

#include <deque>
#include <map>
#include <vector>

using namespace flow;
using namespace flow::detail;

namespace {

TaskPriority level(int number) {
    return static_cast<TaskPriority>(number);
}

} // namespace

TEST_CASE("ready queue: higher priority first, first in first out within one") {
    ReadyQueue queue;
    std::vector<Waiter> waiters(6);
    int levels[] = {7000, 7010, 7000, 0, 65535, 7010};
    for (int i = 0; i < 6; ++i)
        queue.push(&waiters[i], level(levels[i]));
    for (int expected : {4, 1, 5, 0, 2, 3}) {
        Waiter* next = queue.pop();
        CHECK(next - waiters.data() == expected);
        CHECK_FALSE(next->link.isLinked());
        CHECK(queue.priority() == levels[expected]);
    }
    CHECK(queue.pop() == nullptr);
}

TEST_CASE("ready queue: neighbours in the bitmaps do not get in each other's way") {
    std::vector<int> levels = {0, 1, 62, 63, 64, 65, 127, 128, 4095, 4096, 4097, 8191, 8192, 61440, 65534, 65535};
    ReadyQueue queue;
    std::vector<Waiter> waiters(levels.size());
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < levels.size(); ++i)
            queue.push(&waiters[i], level(levels[i]));
        for (std::size_t i = levels.size(); i-- > 0;) {
            CHECK(queue.hasMoreUrgentThan(levels[i] - 1));
            CHECK_FALSE(queue.hasMoreUrgentThan(levels[i]));
            CHECK(queue.pop() == &waiters[i]);
            // An emptied list may count as in use until a pop looks at it; that of nothing does no harm.
            if (i > 0) {
                Waiter* next = queue.pop();
                CHECK(next == &waiters[i - 1]);
                queue.push(next, level(levels[i - 1]));
            }
        }
        CHECK(queue.pop() == nullptr);
        CHECK_FALSE(queue.hasMoreUrgentThan(-1));
    }
}

TEST_CASE("ready queue: empty when nothing is linked, whatever was") {
    ReadyQueue queue;
    Waiter first, second;
    CHECK(queue.isEmpty());
    queue.push(&first, level(65535));
    queue.push(&second, level(7));
    CHECK_FALSE(queue.isEmpty());
    first.link.unlink();
    CHECK_FALSE(queue.isEmpty());
    CHECK_FALSE(queue.hasMoreUrgentThan(7));
    second.link.unlink();
    CHECK(queue.isEmpty());
    queue.push(&first, level(7));
    CHECK(queue.pop() == &first);
    CHECK(queue.isEmpty());
}

TEST_CASE("ready queue: a waiter can be unlinked at any time") {
    ReadyQueue queue;
    Waiter a{}, b{}, c{};
    queue.push(&a, level(10));
    queue.push(&b, level(20));
    queue.push(&c, level(20));
    b.link.unlink();
    c.link.unlink();
    CHECK(queue.pop() == &a);
    a.link = {};
    queue.push(&a, level(10));
    a.link.unlink();
    CHECK(queue.pop() == nullptr);
    queue.push(&b, level(20));
    CHECK(queue.pop() == &b);
}

TEST_CASE("ready queue: orphaned waiters stay linked, to themselves") {
    ReadyQueue queue;
    Waiter a{}, b{};
    queue.push(&a, level(10));
    queue.push(&b, level(10));
    queue.detachAll();
    CHECK(queue.pop() == nullptr);
    CHECK(a.link.isLinked());
    CHECK(a.link.isEmpty());
    a.link.unlink();
    CHECK(b.link.isEmpty());
}

TEST_CASE("ready queue: 100000 random steps against a map of lists") {
    DeterministicRandom random(1);
    ReadyQueue queue;
    std::map<int, std::deque<int>> model;
    std::vector<Waiter> waiters(300);
    std::vector<int> levelOf(waiters.size(), -1); // -1: free
    for (int step = 0; step < 100000; ++step) {
        int i = random.randomInt(0, static_cast<int>(waiters.size()));
        int what = random.randomInt(0, 10);
        if (what < 5 && levelOf[i] < 0) {
            levelOf[i] = random.randomInt(0, 2) ? random.randomInt(0, 65536) : random.randomInt(7000, 7003);
            queue.push(&waiters[i], level(levelOf[i]));
            model[levelOf[i]].push_back(i);
        } else if (what < 6 && levelOf[i] >= 0) {
            waiters[i].link.unlink();
            std::erase(model[levelOf[i]], i);
            if (model[levelOf[i]].empty())
                model.erase(levelOf[i]);
            levelOf[i] = -1;
        } else if (what >= 6) {
            Waiter* next = queue.pop();
            if (model.empty()) {
                REQUIRE(next == nullptr);
                continue;
            }
            auto& list = model.rbegin()->second;
            REQUIRE(next - waiters.data() == list.front());
            levelOf[list.front()] = -1;
            list.pop_front();
            if (list.empty())
                model.erase(std::prev(model.end()));
        }
    }
}
