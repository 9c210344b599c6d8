#include "flow/loop/detail/loop_machine.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

using namespace flow;

namespace {

/// A loop on a clock of its own, which notes how it is driven.
class StepLoop final : public Loop {
public:
    ~StepLoop() override { end(); }
    double timer() override { return now_; }
    using LoopMachine::isDriven, LoopMachine::step;

    std::vector<double> deadlines;
    int turns = 0;

private:
    double startTurn() noexcept override { return now_; }
    bool idleUntil(double deadline) override {
        deadlines.push_back(deadline);
        if (deadline == std::numeric_limits<double>::infinity())
            return false;
        now_ = deadline;
        return true;
    }
    bool sliceIsOver() override {
        resetSlice();
        return true;
    }
    bool runTurn() override {
        ++turns;
        return LoopMachine::runTurn();
    }
};

struct NotesItsEnd : LoopOwned {
    bool ended = false;
    NotesItsEnd() {
        end = [](LoopOwned* owned) { static_cast<NotesItsEnd*>(owned)->ended = true; };
    }
};

} // namespace

TEST_CASE("loop machine: a custom loop lets time pass, and is driven turn by turn") {
    NotesItsEnd noted;
    {
        StepLoop loop;
        loop.add(noted);
        CHECK(!loop.hasWork());
        bool ran = false;
        Future<Void> later = [](bool& done, StepLoop& own) -> Future<Void> {
            co_await delay(3);
            CHECK(own.isDriven());
            done = true;
        }(ran, loop);
        CHECK(loop.hasWork());
        while (!ran)
            loop.step();
        CHECK(loop.now() == 3);
        CHECK(!loop.step());
        CHECK(loop.turns >= 2);
        CHECK(loop.deadlines.front() == 3);
        CHECK(loop.deadlines.back() == std::numeric_limits<double>::infinity());
        CHECK(!noted.ended);
    }
    CHECK(noted.ended);
}

TEST_CASE("loop machine: waiters are queued by priority") {
    StepLoop loop;
    struct Node {
        detail::Waiter waiter{[](detail::Waiter* w) {
                                  auto* self = static_cast<Node*>(w->owner);
                                  self->order->push_back(self->name);
                              },
                              {nullptr},
                              {nullptr, nullptr},
                              {}};
        std::vector<int>* order;
        int name;
    };
    std::vector<int> order;
    Node low{.order = &order, .name = 1}, high{.order = &order, .name = 2}, timed{.order = &order, .name = 3};
    for (Node* node : {&low, &high, &timed})
        node->waiter.owner = node;
    loop.makeReady(&low.waiter, TaskPriority::Low);
    loop.makeReady(&high.waiter, TaskPriority::High);
    loop.parkUntil(&timed.waiter, 1.0, TaskPriority::High);
    loop.run();
    CHECK(order == std::vector<int>{2, 1, 3});
}
