#pragma once
// FiberThreadPool: runs actions that block, such as calls of a storage engine: on threads in production, on fibers in a
// simulation, where the order is the same each time.
//
//     FiberThreadPool pool(Loop::current(), {.threads = 4, .name = "engine"});
//     std::string value = co_await pool.run([&] { return engine.get(key); });
//     pool.run([&] {
//         while (!engine.hasRoom())
//             FiberThreadPool::pause(0.01);                // not sleep(): during pause() other actions run
//         engine.put(key, value);
//     });
//
// At most `threads` actions run at a time; further actions wait in order. An action must not use futures or the loop.
// For threads see flow/threads/thread_pool.h. On a simulated loop each action begins in its own step, and only pause()
// switches to another action. So an action that needs a result of another action must call pause() until the result is
// there. No action may hold a lock of the operating system in pause(): another action on the same thread that needs the
// lock would block the thread forever.
//
// The value or the exception of an action is the future's result. If the future is dropped before the action has begun,
// the action never runs. Otherwise the action runs to its end. The destructors of the pool and of its loop wait for
// actions on threads. The futures of these actions never become ready. On a simulated loop, the destructors make
// pause() throw actor_cancelled, and actions that have not begun, or are started during the destructor, fail with
// broken_promise. A waiter of an action may destroy the pool. The pool belongs to the loop's thread. Objects that
// actions use must outlive the pool.

#include "flow/fiber/fiber.h"
#include "flow/threads/thread_pool.h"

#include <deque>
#include <memory>
#include <vector>

namespace flow {

struct FiberThreadPoolOptions {
    std::size_t threads = ThreadPool::kMostThreads;
    /// The size of a fiber's stack. The stacks of threads have the default size of the system.
    std::size_t stackBytes = 256 << 10;
    /// The name in the message about a stack overflow. The text is not copied.
    char const* name = "FiberThreadPool";
};

class FiberThreadPool {
public:
    using Options = FiberThreadPoolOptions;

    explicit FiberThreadPool(Loop& home, Options const& options = {});
    FiberThreadPool(FiberThreadPool const&) = delete;
    FiberThreadPool& operator=(FiberThreadPool const&) = delete;
    ~FiberThreadPool();

    /// Runs action(). Returns a Future<Void> if action() returns nothing. Throws std::bad_alloc.
    template <class F>
    auto run(F action) {
        using Returned = std::invoke_result_t<F&>;
        using T = std::conditional_t<std::is_void_v<Returned>, Void, Returned>;
        if (threads_)
            return Future<T>(threads_->run(std::move(action)));
        auto job = std::make_unique<Job<T, F>>(std::move(action));
        Future<T> future = job->promise.getFuture();
        submit(std::move(job));
        return future;
    }

    /// Suspends the calling action for `seconds`. On a fiber, throws actor_cancelled if the pool is destroyed.
    static void pause(double seconds);

    bool hasFibers() const { return !threads_; }

private:
    struct AnyJob {
        virtual ~AnyJob() = default;
        virtual void perform() noexcept = 0;
    };
    template <class T, class F>
    struct Job final : AnyJob {
        explicit Job(F&& f) : action(std::move(f)) {}
        void perform() noexcept override {
            if (promise.getFutureReferenceCount() == 0)
                return;
            ErrorOr<T> result;
            try {
                if constexpr (std::is_same_v<T, Void>) {
                    action();
                    result = Void();
                } else {
                    result = action();
                }
            } catch (...) {
                result = ErrorOr<T>::failed(flow::detail::keepCaught(promise));
            }
            result.isError() ? promise.sendError(result.getError()) : promise.send(std::move(result).get());
        }

        F action;
        Promise<T> promise;
    };

    void submit(std::unique_ptr<AnyJob> job);
    /// The waiting actions. The workers own the queue too: a waiter runs on a worker's stack, and may destroy the pool.
    struct Queue {
        std::deque<std::unique_ptr<AnyJob>> jobs;
        bool hasEnded = false;
    };
    static void work(Queue& queue);

    Loop& home_;
    Options const options_;
    Reference<ThreadPool> threads_; // null on a simulated loop
    std::shared_ptr<Queue> const queue_ = std::make_shared<Queue>();
    std::vector<Future<Void>> workers_;
};

} // namespace flow
