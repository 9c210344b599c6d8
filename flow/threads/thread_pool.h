#pragma once
// ThreadPool: a few threads for calls that block. The results come back to the loop.
//
//     Reference<ThreadPool> pool = makeReference<ThreadPool>(Loop::current(), 2);
//     Future<Digest> digest = pool->run([bytes] { return sha512(bytes); });
//
// Programs usually call runBlocking() (flow/threads/run_blocking.h), which uses one pool for each loop. Make another
// pool for work that must not wait behind other work, or for calls that must not overlap (one thread).
//
// The function is called once, on one of the threads, with all signals blocked. It is moved and destroyed on the loop's
// thread, before the future is ready. void becomes Void; an exception becomes the error of the future. The pool starts
// a thread when there are more calls than idle threads, up to `mostThreads` threads, and keeps its threads. Further
// calls wait in order. Any number of calls may wait: see queued().
//
// Cancel safety. run(): if the future is dropped before the call has begun, the function is destroyed and never called.
// A call that has begun runs to its end, and its result is dropped. The objects to which the function refers must live
// until then. runToEnd(): dropping the future only drops the result.
//
// Lifetime. The loop does not end for lack of work while a call is under way, unless it was cancelled. The destructor
// of the loop waits for calls that have begun, and destroys the others. The futures of all these calls never become
// ready. stop() also waits for calls that have begun, but they give their results. A call keeps its pool alive.
//
// Simulation. On a simulated loop there are no threads: each call is a step of the loop, so that a run can be repeated.
// So a call must not wait for another call of the pool: it would wait forever.
//
// A child of fork() has none of the threads: it must not use or destroy a pool that its parent has used. A call in the
// child ends the program with a message. Make a new loop in the child.
//
// Errors. A future fails with platform_error if the system refuses all threads. run() and runToEnd() throw
// std::bad_alloc. All members belong to the loop's thread.

#include "flow/core/error_or.h"
#include "flow/core/operation.h"
#include "flow/loop/detail/posted.h"
#include "flow/loop/loop.h"
#include "flow/memory/reference.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace flow {

class ThreadPool final : public ReferenceCounted<ThreadPool>, LoopOwned {
public:
    /// The default maximum: enough threads to keep a disk busy. Calls that wait for the network need more.
    static constexpr std::size_t kMostThreads = 8;

    explicit ThreadPool(Loop& home, std::size_t mostThreads = kMostThreads);
    ThreadPool(ThreadPool const&) = delete;
    ThreadPool& operator=(ThreadPool const&) = delete;
    ~ThreadPool();

    /// Returns the pool of the current loop. It ends with the loop.
    static ThreadPool& ofLoop();

    /// Calls function() on a thread. The future is never ready if the pool has stopped.
    template <class F>
    auto run(F function) {
        return begin(std::move(function), OnCancel::Withdraw);
    }
    /// Like run(), but the function is called even if its future is dropped.
    template <class F>
    auto runToEnd(F function) {
        return begin(std::move(function), OnCancel::RunOn);
    }

    /// Returns the number of calls that have not begun. A server should refuse work when this number grows.
    std::size_t queued() const;

    /// Waits for the calls that have begun, and destroys the others. Later calls are destroyed immediately.
    void stop() noexcept;

private:
    enum class OnCancel : bool { Withdraw, RunOn };

    /// A call: in the queue, on a thread, or on its way to the loop.
    struct Job : Posted, ListLink {
        explicit Job(ThreadPool& p) : pool(Reference<ThreadPool>::addRef(&p)), guard(p.home_) {}
        virtual ~Job() = default;

        /// Calls the function on a thread.
        virtual void work() noexcept = 0;
        /// Brings the result to the future, on the loop's thread, and destroys the job.
        virtual void deliver() noexcept = 0;
        /// Called instead of deliver() if the loop or the pool ends first. The future then gets no result.
        virtual void discard() noexcept = 0;

        void sendHome() noexcept;
        void sendToLoop() noexcept;
        void workOnLoop();
        using Posted::takeBack;

        bool isQueued = false; // guarded by mutex_
        Reference<ThreadPool> pool;
        std::optional<WorkGuard> guard;
    };
    template <class F>
    struct Call;
    template <class F>
    auto begin(F function, OnCancel onCancel);

    /// Gives the job to the pool. Returns false if the pool has no thread: then the caller still owns the job.
    bool submit(Job& job);
    /// Takes back a job that has not begun, and returns true: then the caller owns it again. Otherwise returns false.
    bool withdraw(Job& job);
    void startThread();
    void main();
    /// Returns the state of an unfinished job, as a text for reports.
    std::string stateOf(Job const& job) const;

    Loop& home_;
    std::size_t const mostThreads_;
    std::vector<std::thread> threads_; // nondeterminism: a simulated loop has none
    std::uint32_t forks_ = 0;          // forkCount() when the pool last started a thread
    mutable std::mutex mutex_;         // guards the members below
    std::condition_variable changed_;
    ListLink queue_; // a list of Jobs
    std::size_t queued_ = 0;
    std::size_t idle_ = 0;
    bool stopped_ = false; // written only by the loop's thread, which may read it without the mutex
};

template <class F>
struct ThreadPool::Call final : Job, FastAllocated<Call<F>> {
    using Returned = std::invoke_result_t<F&>;
    using Value = std::conditional_t<std::is_void_v<Returned>, Void, Returned>;
    static_assert(!kIsFuture<Value>, "a blocking call returns a value: futures belong to the loop's thread");

    /// The future's side of the call.
    struct Answer : Operation<Answer, Value> {
        explicit Answer(std::unique_ptr<Call> c) : call(c.get()) {
            call->answer = this;
            if (call->pool->submit(*call)) {
                c.release();
                return;
            }
            call = nullptr;
            this->fail(platform_error());
        }
        ~Answer() {
            if (!call) // after discard(), or if the pool has no thread
                return;
            call->answer = nullptr;
            if (call->isBack || (call->onCancel == OnCancel::Withdraw && call->pool->withdraw(*call)))
                delete call;
            else if (call->onCancel == OnCancel::Withdraw)
                call->guard.reset();
        }
        void describe(Description& out) const {
            out.text = call ? call->pool->stateOf(*call) : "a blocking call of a pool that has stopped";
        }
        void deliver() noexcept {
            Loop::current().noteAnswer(this->firstAwaiter());
            if (call->result.isError())
                this->fail(call->result.getError(), std::move(call->exception));
            else
                this->complete(std::move(call->result).get());
        }

        Call* call;
    };

    Call(ThreadPool& p, F&& f, OnCancel c) : Job(p), onCancel(c), function(std::move(f)) {}

    void work() noexcept override {
        try {
            if constexpr (std::is_void_v<Returned>) {
                function();
                result = Void();
            } else {
                result = function();
            }
        } catch (...) {
            result = ErrorOr<Value>::failed(currentError());
            if (detail::mayHaveException(result.getError()))
                exception = std::current_exception();
        }
    }
    void deliver() noexcept override {
        isBack = true;
        if (answer)
            answer->deliver(); // destroys this Call before its future is ready
        else
            delete this;
    }
    void discard() noexcept override {
        if (answer)
            answer->call = nullptr;
        delete this;
    }

    OnCancel onCancel;
    bool isBack = false;
    Answer* answer = nullptr; // null if the future was dropped; belongs to the loop's thread
    F function;
    ErrorOr<Value> result;
    std::exception_ptr exception; // the exception behind an unknown_error
};

template <class F>
auto ThreadPool::begin(F function, OnCancel onCancel) {
    using TheCall = Call<F>;
    using Value = typename TheCall::Value;
    if (stopped_)
        return Future<Value>(Never());
    return start<typename TheCall::Answer>(std::make_unique<TheCall>(*this, std::move(function), onCancel));
}

} // namespace flow
