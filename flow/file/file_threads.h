#pragma once
// FileThreads: runs calls that block on a few threads and brings the results back to the loop.
//
//     Reference<FileThreads> threads = makeReference<FileThreads>(loop());
//     Future<int> size = threads->call([path] { return sizeOf(path); });       // throws an Error if it fails
//     threads->end();                                                          // before the loop ends
//
// Why threads: Linux has no other way to read and write ordinary files without blocking that works everywhere. io_uring
// is switched off on many machines and in most containers, for reasons of security, and the older asynchronous calls
// block all the same unless the page cache is bypassed.
//
// Threads are started one by one, when there is more to do than there are idle ones, and kept. They take no signals. A
// call runs once, on one of them; it is made and destroyed on the loop's thread. Until its result has come the loop
// does not end for want of work, whether or not anybody waits for it.

#include "flow/core/error_or.h"
#include "flow/loop/loop.h"
#include "flow/memory/reference.h"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace flow::detail {

/// Parked by `link` in the queue, then in the loop's inbox.
struct FileCall : Waiter {
    explicit FileCall(Loop& home) : guard(home) {}

    void (*work)(FileCall*) noexcept; // on a thread
    WorkGuard guard;
};

class FileThreads : public ReferenceCounted<FileThreads> {
public:
    /// Calls that block in the kernel at the same time.
    static constexpr std::size_t kMostThreads = 8;

    explicit FileThreads(Loop& home) : home_(home) { queue_.reset(); }
    FileThreads(FileThreads const&) = delete;
    FileThreads& operator=(FileThreads const&) = delete;

    /// Runs function() on a thread and gives what it returns, or the error that it throws; void is Void. Fails with
    /// platform_error if no thread can be had; never ready once end() has been called. Throws std::bad_alloc.
    template <class F>
    auto call(F function);

    /// Any thread may ask.
    bool hasEnded() const { return ended_; }
    /// Waits for what runs; the results are destroyed with the loop. What has not begun is destroyed here.
    void end() noexcept;

private:
    template <class F>
    struct Call;

    /// Takes the call over, unless it throws or there is no thread: false.
    bool submit(FileCall* call);
    void startThread();
    void main();

    Loop& home_;
    std::vector<std::thread> threads_; // nondeterminism: for the machine's files, which no simulated process has
    std::mutex mutex_;                 // guards what follows
    std::condition_variable changed_;
    Link queue_;
    std::size_t queued_ = 0;
    std::size_t idle_ = 0;
    std::atomic<bool> ended_{false}; // is set under it
};

template <class F>
struct FileThreads::Call final : FileCall, FastAllocated<Call<F>> {
    using Returned = std::invoke_result_t<F&>;
    using Value = std::conditional_t<std::is_void_v<Returned>, Void, Returned>;

    Call(Loop& home, F&& f) : FileCall(home), function(std::move(f)) {
        work = run;
        resume = deliver;
        destroy = discard;
        awaited = Awaited::turn();
    }

    static Call* of(Waiter* waiter) { return static_cast<Call*>(static_cast<FileCall*>(waiter)); }

    static void run(FileCall* call) noexcept {
        Call* self = of(call);
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
    static void deliver(Waiter* waiter) {
        std::unique_ptr<Call> self(of(waiter));
        Promise<Value> answer = std::move(self->promise);
        ErrorOr<Value> result = std::move(self->result);
        self.reset(); // what the call held goes before anybody hears of its end
        if (result.isError())
            answer.sendError(result.getError());
        else
            answer.send(std::move(result).get());
    }
    static void discard(Waiter* waiter) {
        std::unique_ptr<Call> self(of(waiter));
        self->promise.send(Never());
    }

    F function;
    ErrorOr<Value> result;
    Promise<Value> promise;
};

template <class F>
auto FileThreads::call(F function) {
    using Answer = Future<typename Call<F>::Value>;
    if (ended_)
        return Answer(Never());
    auto call = std::make_unique<Call<F>>(home_, std::move(function));
    Answer answer = call->promise.getFuture();
    if (!submit(call.get()))
        return Answer::failed(platform_error());
    call.release();
    return answer;
}

} // namespace flow::detail
