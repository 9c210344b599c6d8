#include "flow/core/detail/run.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

using namespace flow;
using namespace flow::detail;

namespace {

/// Hands over to `next` until there is none.
struct Counting : Waiter {
    Counting* next = nullptr;
    std::vector<const char*>* addresses = nullptr; // of the stack, where each ran
    int runs = 0;

    Counting() : Waiter{resumeStep, {nullptr}, {}, {}} {}

    static void resumeStep(Waiter* waiter) {
        auto* step = static_cast<Counting*>(waiter);
        note(step);
        if (!step->next)
            return;
        FLOW_HAND_OVER(step->next);
    }
    [[gnu::noinline]] static void note(Counting* step) {
        ++step->runs;
        if (step->addresses)
            step->addresses->push_back(static_cast<const char*>(__builtin_frame_address(0)));
    }
};

const void* seenInside = nullptr;

void noteRunningActor(Waiter*) {
    seenInside = runningActor;
}

void runAnother(Waiter* waiter) {
    Waiter inner{noteRunningActor, {nullptr}, {}, {}};
    run(&inner);
    CHECK(seenInside == (FLOW_CHECKED ? reinterpret_cast<const void*>(&noteRunningActor) : nullptr));
    CHECK(runningActor == (FLOW_CHECKED ? reinterpret_cast<const void*>(waiter->resume) : nullptr));
}

} // namespace

TEST_CASE("run: a waiter runs once and control comes back") {
    Counting step;
    run(&step);
    CHECK(step.runs == 1);
    run(&step);
    CHECK(step.runs == 2);
}

TEST_CASE("run: a chain of hand-overs needs one frame of stack") {
    std::vector<Counting> steps(1000000);
    std::vector<const char*> addresses;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        steps[i].next = i + 1 < steps.size() ? &steps[i + 1] : nullptr;
        if (i == 1 || i == steps.size() - 1)
            steps[i].addresses = &addresses;
    }
    run(steps.data());
    for (Counting const& step : steps)
        REQUIRE(step.runs == 1);
    REQUIRE(addresses.size() == 2);
    CHECK(addresses[0] == addresses[1]);
}

TEST_CASE("run: the running actor is known inside and put back after, also when runs nest") {
    CHECK(runningActor == nullptr);
    Waiter outer{runAnother, {nullptr}, {}, {}};
    run(&outer);
    CHECK(runningActor == nullptr);
    Counting first, second;
    first.next = &second;
    run(&first);
    CHECK(runningActor == nullptr);
}
