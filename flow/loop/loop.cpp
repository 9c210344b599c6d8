#include "flow/loop/loop.h"

#include "flow/base/detail/dropped_error.h"
#include "flow/core/detail/turn_budget.h"

#include <utility>

namespace flow {
using namespace detail;

bool TurnBudget::hasNoLimit() noexcept {
    if (!hasLoop()) {
        left_ = kNoLimit;
        return true;
    }
    left_ = 1;
    Loop::current().endTurn();
    return false;
}

Loop::Loop(NotCurrent) : previous_(nullptr) {}

Loop::Loop() : Loop(NotCurrent()) {
    previous_ = std::exchange(currentLoop, this);
    noteThreadHasLoop();
    TurnBudget::limit();
}

Loop::~Loop() {
    for (Loop** place = &currentLoop; *place; place = &(*place)->previous_)
        if (*place == this) { // a loop may be destroyed while another loop is current
            *place = previous_;
            break;
        }
}

Loop* Loop::setCurrent(Loop* loop) noexcept {
    return std::exchange(currentLoop, loop);
}

void* Loop::find(void const* key) const {
    for (Service const& each : services_)
        if (each.key == key)
            return each.object;
    return nullptr;
}

void Loop::provide(void const* key, void* object) {
    for (Service& each : services_)
        if (each.key == key) {
            each.object = object;
            return;
        }
    services_.push_back({key, object});
}

void Loop::runUntilReady(Cell* cell) {
    struct Parked : Waiter {
        ~Parked() { abandon(this); }
    } waiter{{run, {}, {nullptr, nullptr}, {}}};
    waiter.owner = &turnEnded_;
    addFuture(cell);
    park(&waiter, cell);
    runUntil(cell);
}

void Loop::run(Waiter* waiter) {
    static_cast<std::atomic<bool>*>(waiter->owner)->store(true, std::memory_order_relaxed);
}

bool Loop::run() {
    return runUntil(nullptr);
}

void Loop::runLastWork() {
    LastWork* last = service<LastWork>();
    if (!last || runs_ != 0)
        return;
    Future<Void> ended = last->ended();
    if (!ended.isReady())
        runUntilReady(ended.cell());
}

void Loop::endInOrder() noexcept {
    try {
        if (currentLoop == this)
            runLastWork();
    } catch (...) { // an error of the poller
        reportDroppedBy("the end of a loop", currentError());
    }
    end();
}

// If a step calls run() of its own loop, the end of this inner run() ends only the current turn of the outer run().
bool Loop::runUntil(Cell* cell) {
    FLOW_ASSERT(currentLoop == this, "Loop::run() on a loop that is not the current one of this thread");
    bool outerStops = runs_ != 0 && stopped_.exchange(false); // an earlier stop() was meant for the outer run()
    bool isInTurn = false;
    for (Loop* each = this; each; each = each->previous_)
        isInTurn |= each->runs_ != 0;
    ++runs_;
    struct Ended {
        Loop& loop;
        bool outerStops, isInTurn;
        TurnBudget::Saved turn = {};
        ~Ended() {
            if (!isInTurn)
                turn.renew();
            --loop.runs_;
            loop.stopped_ = outerStops;
            loop.turnEnded_ = true;
        }
    } ended{*this, outerStops, isInTurn};
    while (!stopped_.load(std::memory_order_relaxed) && !(cell && cell->isReady()) && runTurn()) {
    }
    return stopped_.load(std::memory_order_relaxed);
}

} // namespace flow
