#pragma once
// ThreadPool: a few threads for calls that block, and the way of their results back to the loop.
//
//     Reference<ThreadPool> pool = makeReference<ThreadPool>(loop(), 2);
//     Future<Digest> digest = pool->run([bytes] { return sha512(bytes); });
//
// Programs usually call runBlocking() (flow/threads/run_blocking.h), which uses one pool for each loop. A pool of its
// own is for work that must not wait behind other work, or that must not run twice at the same time (one thread).
//
// The function is called once, on one of the threads, with all signals blocked. It is moved and destroyed only on the
// loop's thread, and it is destroyed before the future is ready. void becomes Void; an exception becomes the error of
// the future. The pool starts a thread when there are more calls than idle threads, up to its bound, and keeps it.
// Further calls wait in order; their number has no bound, see queued().
//
// Cancel safety. run(): if the future is dropped before the call has begun, the function is destroyed and never called.
// If the call has begun, it runs to its end and its result is dropped; what it refers to must live that long.
// runToEnd(): dropping the future changes nothing but that the result is dropped.
//
// Lifetime. The loop does not end for want of work while a call is under way, unless it was cancelled. When the loop is
// destroyed, it waits for the calls that have begun, destroys the others, and the futures of both never become ready.
// The same happens in stop(). A call holds a reference of its pool.
//
// Simulation. On a simulated loop there are no threads: each call is a task of the loop, so that a run can be repeated.
// A call that waits for another call of the pool therefore never ends there.
//
// A child of fork() has none of the threads: it must not use or destroy a pool that its parent has used.
//
// Errors. platform_error if the system gives no thread. run() and runToEnd() throw std::bad_alloc.
//
// Threads. All members belong to the loop's thread.

#include "flow/core/error_or.h"
#include "flow/loop/loop.h"
#include "flow/memory/reference.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

namespace flow {

class ThreadPool final : public ReferenceCounted<ThreadPool>, detail::LoopOwned {
public:
    /// Enough to keep a disk busy; calls that wait for the network rather want more.
    static constexpr std::size_t kMostThreads = 8;

    explicit ThreadPool(Loop& home, std::size_t mostThreads = kMostThreads);
    ThreadPool(ThreadPool const&) = delete;
    ThreadPool& operator=(ThreadPool const&) = delete;
    ~ThreadPool();

    /// The pool of the current loop, which ends with the loop.
    static ThreadPool& ofLoop();

    /// Calls function() on a thread. The future is never ready if the pool has stopped.
    template <class F>
    auto run(F function) {
        return start(std::move(function), OnCancel::Withdraw);
    }
    /// The same, but the call happens also if its future is dropped.
    template <class F>
    auto runToEnd(F function) {
        return start(std::move(function), OnCancel::RunOn);
    }

    /// Calls that have not begun. A server that accepts work without a bound should refuse some when this grows.
    std::size_t queued() const;

    /// Waits for the calls that have begun and destroys the others. Further calls are destroyed at once.
    void stop() noexcept;
    bool hasStopped() const { return stopped_; }

private:
    enum class OnCancel : bool { Withdraw, RunOn };

    /// A call: in the queue, on a thread, or in the loop's inbox, by `link`.
    struct Job : detail::Waiter {
        explicit Job(ThreadPool* parent)
            : Waiter{nullptr, {nullptr}, {nullptr, nullptr}, detail::Awaited::turn()},
              pool(Reference<ThreadPool>::addRef(parent)), guard(parent->home_) {}

        void (*work)(Job*) noexcept;      // calls the function
        void (*deliver)(detail::Waiter*); // then brings the result to the future, on the loop's thread
        bool isQueued = false;            // under the mutex
        Reference<ThreadPool> pool;
        std::optional<WorkGuard> guard;
    };
    template <class F>
    struct Call;
    template <class F>
    auto start(F function, OnCancel onCancel);

    /// From here on the job belongs to the pool, unless no thread can be had: false.
    bool submit(Job& job);
    /// True if the job had not begun: it belongs to the caller again.
    bool withdraw(Job& job);
    /// The `resume` of a job on a simulated loop.
    static void workOnLoop(detail::Waiter* waiter);
    void startThread();
    void main();

    Loop& home_;
    std::size_t const mostThreads_;
    std::vector<std::thread> threads_; // nondeterminism: a simulated loop has none
    mutable std::mutex mutex_;         // guards what follows
    std::condition_variable changed_;
    detail::Link queue_;
    std::size_t queued_ = 0;
    std::size_t idle_ = 0;
    bool stopped_ = false; // only the loop's thread writes it, so that it may read it without the mutex
};

template <class F>
struct ThreadPool::Call final : Job, FastAllocated<Call<F>> {
    using Returned = std::invoke_result_t<F&>;
    using Value = std::conditional_t<std::is_void_v<Returned>, Void, Returned>;
    static_assert(!detail::isFuture<Value>, "a blocking call returns a value: futures belong to the loop's thread");

    /// The frame of the future. It is linked to itself, which counts as parked, so that a cancel resumes it.
    struct Asker : detail::Waiter {
        explicit Asker(Call* c) : Waiter{cancelled, {nullptr}, {}, {}}, call(c) { link.reset(); }

        Call* call; // null when the loop has ended
    };

    Call(ThreadPool* parent, F&& f, OnCancel c) : Job(parent), onCancel(c), function(std::move(f)) {
        work = callFunction;
        resume = Job::deliver = bringResult;
        destroy = discard;
    }

    static Call* of(detail::Waiter* waiter) { return static_cast<Call*>(static_cast<Job*>(waiter)); }

    static void callFunction(Job* job) noexcept {
        Call* self = of(job);
        try {
            if constexpr (std::is_void_v<Returned>) {
                self->function();
                self->result = Void();
            } else {
                self->result = self->function();
            }
        } catch (...) {
            self->result = ErrorOr<Value>::failed(currentError());
        }
    }
    static void bringResult(detail::Waiter* waiter) {
        if (detail::Waiter* last = unpack(of(waiter)))
            FLOW_HAND_OVER(last);
    }
    static detail::Waiter* unpack(Call* call) noexcept {
        std::unique_ptr<Call> self(call);
        Asker* asker = self->asker;
        if (!asker)
            return nullptr;
        asker->link.unlink(); // it runs: if the function held its own future, dropping that only marks the frame
        Error error = self->result.isError() ? self->result.getError() : Error();
        try {
            if (!error.isValid())
                detail::constructValue<Value>(detail::Cell::of(asker), std::move(self->result).get());
        } catch (...) { // the value cannot be moved
            error = currentError();
        }
        self.reset();
        return finish(asker, error);
    }
    /// The loop ends before it has run.
    static void discard(detail::Waiter* waiter) {
        std::unique_ptr<Call> self(of(waiter));
        if (self->asker)
            self->asker->call = nullptr;
    }
    static void cancelled(detail::Waiter* waiter) {
        auto* asker = static_cast<Asker*>(waiter);
        detail::releaseFuture(detail::takeAwaited(asker));
        if (Call* call = asker->call) {
            call->asker = nullptr;
            if (call->onCancel == OnCancel::Withdraw) {
                if (call->pool->withdraw(*call))
                    delete call;
                else
                    call->guard.reset();
            }
        }
        if (detail::Waiter* last = finish(asker, actor_cancelled()))
            FLOW_HAND_OVER(last);
    }
    static detail::Waiter* finish(Asker* asker, Error error) noexcept {
        detail::Cell* cell = detail::Cell::of(asker);
        asker->~Asker();
        cell->error = error;
        return detail::finishFrame<Value>(cell, error.isValid() ? detail::Cell::kError : detail::Cell::kValue);
    }

    OnCancel onCancel;
    Asker* asker = nullptr; // null when the future has been cancelled; belongs to the loop's thread
    F function;
    ErrorOr<Value> result;
};

template <class F>
auto ThreadPool::start(F function, OnCancel onCancel) {
    using TheCall = Call<F>;
    using Value = typename TheCall::Value;
    using Asker = typename TheCall::Asker;
    if (stopped_)
        return Future<Value>(Never());
    auto call = std::make_unique<TheCall>(this, std::move(function), onCancel);
    detail::Cell* cell = detail::newCell<Value>(sizeof(Asker), 1, 1, detail::Cell::kHasFrame);
    call->asker = ::new (cell->frame()) Asker(call.get());
    auto future = Future<Value>::adopt(cell);
    if (submit(*call)) {
        call.release();
        return future;
    }
    call->asker->call = nullptr;
    return Future<Value>::failed(platform_error());
}

} // namespace flow
