#include "flow/loop/loop.h"

#include <thread>

namespace flow {
using namespace detail;
namespace {

/// Waits for the future of Loop::run(future) and ends the turn, so that run looks at the future.
struct EndOfTurn : Waiter {
    EndOfTurn(EndOfTurn const&) = delete;
    ~EndOfTurn() { abandon(this); }
    explicit EndOfTurn(std::atomic<bool>& flag) {
        resume = [](Waiter* self) {
            static_cast<std::atomic<bool>*>(self->owner)->store(true, std::memory_order_relaxed);
        };
        owner = &flag;
        link = {nullptr, nullptr};
    }
};

} // namespace

Loop::Loop(NotCurrent) : previous_(nullptr) {
    owned_.reset();
    nameUncaughtErrors();
}

Loop::Loop() : Loop(NotCurrent()) {
    previous_ = std::exchange(currentLoop, this);
    noteThreadHasLoop();
}

void Loop::end() noexcept {
    FLOW_ASSERT(runs_ == 0, "a loop is destroyed by a task that it runs");
    for (;;) { // what dies here may post, and bring new guests
        while (!owned_.isEmpty()) {
            auto* owned = static_cast<LoopOwned*>(owned_.next);
            owned->unlink();
            owned->end(owned);
        }
        takeInbox();
        ready_.detachAll();
        if (!inbox_.isEmpty() || !owned_.isEmpty())
            continue;
        if (expected_ == 0)
            break;
        // nondeterminism: none is expected in a simulation. Another thread has a few instructions to go.
        std::this_thread::yield();
    }
    FLOW_ASSERT(guards_ == 0, "a loop is destroyed although a WorkGuard, or a call with onLoop, still needs it");
}

void Loop::lookAtClock() noexcept {
    now_ = startTurn();
}

Loop::~Loop() {
    for (Loop** place = &currentLoop; *place; place = &(*place)->previous_)
        if (*place == this) { // not the first when loops are destroyed out of order
            *place = previous_;
            break;
        }
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
    EndOfTurn waiter(turnEnded_);
    addFuture(cell);
    park(&waiter, cell);
    runUntil(cell);
}

void Loop::run() {
    runUntil(nullptr);
}

// A task may run its own loop: that ends the turn of the run further down the stack, but not that run.
void Loop::runUntil(Cell* cell) {
    FLOW_ASSERT(currentLoop == this, "Loop::run() on a loop that is not the current one of this thread");
    bool outerStops = runs_ != 0 && stopped_.exchange(false); // the task that runs this loop has stopped the outer run
    ++runs_;
    struct Ended {
        Loop& loop;
        bool outerStops;
        ~Ended() {
            --loop.runs_;
            loop.stopped_ = outerStops;
            loop.turnEnded_ = true;
        }
    } ended{*this, outerStops};
    while (!stopped_.load(std::memory_order_relaxed) && !(cell && cell->isReady()) && runTurn()) {
    }
}

bool Loop::runTurn() {
    return runTurnWith([this] { return takeReady(); });
}

bool Loop::step() {
    ++runs_;
    struct Ended {
        int& runs;
        ~Ended() { --runs; }
    } ended{runs_};
    return runTurn();
}

bool Loop::sleep(double seconds) {
    Poller& poller = *poller_;
    poller.prepare();
    if (!inbox_.fallAsleep())
        return false;
    // stop() either sees this loop asleep and wakes it, or is seen here.
    bool asks = !stopped_.load(std::memory_order_seq_cst);
    if (asks)
        poller.wait(seconds);
    if (!inbox_.wakeUp())
        poller.takeWake();
    return asks;
}

void Loop::takeInbox() {
    inbox_.takeAll([this](Waiter* waiter) {
        auto priority = static_cast<TaskPriority>(reinterpret_cast<std::intptr_t>(waiter->link.prev));
        waiter->link = {nullptr, nullptr};
        ready_.push(waiter, priority);
    });
}

bool Loop::waitForWork() {
    if (!inbox_.isEmpty())
        return true;
    // A delay without end is as good as none: waiting for it would set a simulated clock to infinity.
    double deadline = timers_.nextDeadline();
    return deadline <= now_ || idleUntil(deadline); // not after now: the queue goes on with what it has not found yet
}

} // namespace flow
