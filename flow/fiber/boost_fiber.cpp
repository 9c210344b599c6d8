// Boost.Fiber calls its algorithm, here BoostScheduler, in three cases: awakened() when a fiber is ready, pick_next()
// when a context suspends, and suspend_until() when the dispatcher has no work. A ready fiber joins the loop's queue as
// a Turn, which switches to the fiber (enter()). So the loop decides the order.
//
// Besides its fibers, each thread has two contexts: its main function, and Boost's dispatcher, which frees ended fibers
// and handles timers. So a fiber that ends or sleeps switches to the dispatcher. While a timer is set, every fiber that
// suspends switches to the dispatcher. Otherwise it switches back to the loop's step.
//
// A part of the thread's state belongs to one stack: exceptions in flight, levels of withRoom(), the running Fiber.
// Boost does not switch this state, so switchTo() and noteSwitch() do.

#include "flow/fiber/boost_fiber.h"

#include "flow/base/assert.h"
#include "flow/base/stack.h"
#include "flow/fiber/fiber.h"
#include "flow/loop/real_loop.h"
#include "flow/loop/turn.h"

#include <atomic>
#include <boost/fiber/algo/algorithm.hpp>
#include <boost/fiber/operations.hpp>
#include <boost/fiber/scheduler.hpp>
#include <boost/fiber/type.hpp>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <optional>

// nondeterminism: this file defines now() of this clock, which follows the time of a simulated loop
using SteadyClock = std::chrono::steady_clock;

namespace flow::fiber::detail {
namespace {

using boost::fibers::context;

constexpr double kTicksPerSecond = 1e9; // SteadyClock counts nanoseconds

std::int64_t ticks(double seconds) {
    return std::llround(seconds * kTicksPerSecond);
}

/// Returns clock time minus loop time, in seconds. A real loop counts its time from the program's first loop. The
/// result may be a little too small. This makes a deadline late, never early.
double clockAhead() {
    if (Loop::current().isSimulated())
        return 0;
    double clock = machineTime();
    return clock - Loop::current().timer();
}

/// Returns the earliest loop time at which the clock has reached `time`.
double deadlineOf(SteadyClock::time_point time) {
    std::int64_t wanted = time.time_since_epoch().count();
    double ahead = clockAhead();
    double seconds = static_cast<double>(wanted) / kTicksPerSecond - ahead;
    while (ticks(seconds + ahead) < wanted)
        seconds = std::nextafter(seconds, std::numeric_limits<double>::infinity());
    return seconds;
}

} // namespace

/// The part of the thread's state that belongs to a fiber's stack, and the fiber's place in the loop's queue.
class BoostFiber final : public boost::fibers::fiber_properties, public Turn {
public:
    explicit BoostFiber(context* ctx) noexcept : fiber_properties(ctx), Turn(run) {}

    void saveThread() {
        state_ = ThreadState::ofThread();
        fiber_ = currentFiber;
    }
    void restoreThread() const {
        ThreadState::ofThread().replaceWith(state_);
        currentFiber = fiber_;
    }

private:
    static void run(Turn& turn);

    ThreadState state_;
    Fiber* fiber_ = nullptr;
};

/// The scheduler of a thread. Usually the program runs the loop: a step of the loop switches to a fiber, and the
/// scheduler switches back to the loop when this fiber suspends. But if code outside of fibers waits for a fiber,
/// Boost's dispatcher runs the loop up to the next step of a fiber, and then switches to this fiber.
class BoostScheduler final : public boost::fibers::algo::algorithm_with_properties<BoostFiber> {
public:
    BoostScheduler() : timer_(this), notice_(this) {}

    void awakened(context* ctx, BoostFiber& fiber) noexcept override {
        noteSwitch();
        if (ctx->is_context(boost::fibers::type::dispatcher_context)) {
            dispatcher_ = ctx;
        } else if (hasLoop()) {
            ++ready_;
            attachTo(Loop::current());
            fiber.ask(kPriority);
        } else {
            ctx->ready_link(withoutLoop_); // the thread is ending
        }
    }

    context* pick_next() noexcept override {
        noteSwitch();
        context* next = next_ ? std::exchange(next_, nullptr) : choose(*context::active());
        if (next)
            switchTo(*next);
        return next;
    }

    bool has_ready_fibers() const noexcept override { return ready_ != 0 || !withoutLoop_.empty(); }

    void suspend_until(SteadyClock::time_point const& time) noexcept override {
        FLOW_ASSERT(hasLoop(), "Boost fibers wait on a thread that has no loop, or has come to its end");
        setTimer(time);
        if (caller_) {
            switchTo(*caller_);
            caller_->resume();
        } else {
            onNewStack([this] { runLoop(Loop::current()); });
        }
    }

    /// Called on any thread.
    void notify() noexcept override {
        Loop* home = home_.load();
        if (home && !isNotified_.exchange(true))
            home->putIntoInbox(notice_, kPriority);
    }

    void runFiber(context& ctx) {
        --ready_;
        enter(&ctx);
    }

private:
    static constexpr TaskPriority kPriority = TaskPriority::DefaultDelay;

    struct Timer : Turn {
        explicit Timer(BoostScheduler* s)
            : Turn([](Turn& self) { static_cast<Timer&>(self).scheduler->dispatch(); }), scheduler(s) {}
        BoostScheduler* scheduler;
    };
    /// The waiter that notify() puts into the inbox.
    struct Notice : Waiter {
        explicit Notice(BoostScheduler* scheduler)
            : Waiter{resumed, {dropped}, {nullptr, nullptr}, flow::detail::Awaited::turn()}, scheduler(scheduler) {}
        static void resumed(Waiter* waiter) {
            static_cast<Notice*>(waiter)->scheduler->isNotified_ = false;
            static_cast<Notice*>(waiter)->scheduler->dispatch();
        }
        static void dropped(Waiter* waiter) { static_cast<Notice*>(waiter)->scheduler->isNotified_ = false; }
        BoostScheduler* scheduler;
    };
    struct HomeLink : LoopOwned {
        BoostScheduler* scheduler;
    };

    /// Returns the context that runs after `active`, which suspends. Returns null if `active` is the dispatcher.
    context* choose(context& active) {
        if (!withoutLoop_.empty()) {
            context* first = &withoutLoop_.front();
            withoutLoop_.pop_front();
            return first;
        }
        FLOW_ASSERT(!isInLoop_,
                    "code that is no Boost fiber waits for one within a loop that runs because of such a wait");
        if (&active == dispatcher_)
            return nullptr;
        // The dispatcher frees ended fibers, and finds the earliest timer.
        bool isPlain = !active.sleep_is_linked() && !active.terminated_is_linked() && !timer_.isAsked();
        return isPlain && caller_ ? caller_ : dispatcher_;
    }

    /// Switches to a context. Called by a step of the loop.
    void enter(context* ctx) {
        context* active = context::active();
        if (active == dispatcher_) { // the dispatcher is running the loop
            next_ = ctx == dispatcher_ ? nullptr : ctx;
            hasNews_ = true;
            return Loop::current().stop();
        }
        noteSwitch();
        context* outer = std::exchange(caller_, active);
        switchTo(*ctx);
        ctx->resume();
        caller_ = outer;
    }
    void dispatch() { enter(dispatcher_); }

    void runLoop(Loop& loop) {
        std::optional<WorkGuard> guard; // prevents the end of the loop: another thread may wake the fiber
        if (!loop.isSimulated())
            guard.emplace(loop);
        isInLoop_ = true;
        for (hasNews_ = false; !hasNews_;) {
            loop.run();
            FLOW_ASSERT(hasNews_ || guard || loop.hasWork(),
                        "code outside of Boost's fibers waits for one, and nothing is left that could wake it");
        }
        isInLoop_ = false;
    }

    void setTimer(SteadyClock::time_point time) {
        if (timer_.isAsked() && time == timerAt_)
            return;
        timer_.takeBack();
        timerAt_ = time;
        if (time != SteadyClock::time_point::max())
            timer_.askAt(deadlineOf(time), kPriority);
    }

    void attachTo(Loop& loop) {
        if (home_.load(std::memory_order_relaxed) == &loop)
            return;
        if (homeLink_.isLinked())
            homeLink_.unlink();
        homeLink_.scheduler = this;
        homeLink_.end = [](LoopOwned* owned) { static_cast<HomeLink*>(owned)->scheduler->home_ = nullptr; };
        loop.add(homeLink_);
        home_ = &loop;
    }

    // Boost does not switch the part of the thread's state that belongs to a stack. switchTo() and noteSwitch() do it.

    /// Returns the BoostFiber of a context. Makes it if there is none.
    BoostFiber& of(context& ctx) {
        if (!get_properties(&ctx)) {
            auto* fiber = new BoostFiber(&ctx);
            fiber->set_algorithm(this);
            set_properties(&ctx, fiber);
        }
        return properties(&ctx);
    }
    /// Called before the thread switches to `ctx`.
    void switchTo(context& ctx) {
        of(*context::active()).saveThread();
        of(ctx).restoreThread();
        current_ = &ctx;
    }
    /// Called where Boost may have switched: a fiber with launch::dispatch runs as soon as it is made.
    void noteSwitch() {
        context* active = context::active();
        if (active == current_)
            return;
        if (current_) {
            of(*current_).saveThread();
            of(*active).restoreThread();
        }
        current_ = active;
    }

    context* dispatcher_ = nullptr;
    context* caller_ = nullptr;  // the context of the loop's step that switched to a fiber
    context* next_ = nullptr;    // the next context for the dispatcher
    context* current_ = nullptr; // the thread has the state of this context
    bool isInLoop_ = false;      // the dispatcher runs the loop
    bool hasNews_ = false;
    std::size_t ready_ = 0;
    boost::fibers::scheduler::ready_queue_type withoutLoop_;
    Timer timer_;
    SteadyClock::time_point timerAt_;
    Notice notice_;
    std::atomic<bool> isNotified_{false};
    std::atomic<Loop*> home_{nullptr};
    HomeLink homeLink_{};
};

void BoostFiber::run(Turn& turn) {
    auto& self = static_cast<BoostFiber&>(turn);
    static_cast<BoostScheduler*>(self.algo_)->runFiber(*self.ctx_);
}

} // namespace flow::fiber::detail

namespace flow::fiber {

void useBoostFibers() {
    static thread_local bool isUsed = false;
    if (std::exchange(isUsed, true))
        return;
    boost::fibers::use_scheduling_algorithm<detail::BoostScheduler>();
}

} // namespace flow::fiber

// nondeterminism: replaces the standard library's function, see boost_fiber.h
SteadyClock::time_point std::chrono::steady_clock::now() noexcept {
    flow::Loop* loop = flow::detail::currentLoop;
    if (loop && loop->isSimulated())
        return time_point(duration(flow::fiber::detail::ticks(loop->timer())));
    timespec time;
    // nondeterminism: reached only without a simulated loop
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}
