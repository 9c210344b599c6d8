#pragma once
// Calls between other threads and the main loop, under the old header name.
//
//     ThreadFuture<int> size = onMainThread([&] { return countRows(); });      // any thread; countRows() is an actor
//     size.blockUntilReady();
//     use(size.get());
//
//     int rows = co_await safeThreadFutureToFuture(size);                      // on a loop; dropping it cancels `size`
//
// A ThreadFuture is a pointer to a state that its copies share; any thread may use any of them. The main loop is the
// loop of newNet2() or of the last g_network->run(). It must outlive all calls. In a test of the runner, the main loop
// is the loop of the test, which runs calls of other threads only with --real. New code: flow/threads/on_loop.h.

#include "IThreadPool.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

template <class T>
using ThreadFutureStream = flow::FutureStream<T>;

template <class T>
class ThreadFuture {
public:
    /// The shared state of copies.
    class State : flow::NonCopyable {
    public:
        bool isReady() {
            std::lock_guard lock(mutex_);
            return result_.has_value();
        }
        /// Sets the result, if there is none. Returns true if it did.
        bool set(flow::ErrorOr<T> result) {
            std::vector<std::function<void()>> callbacks;
            {
                std::lock_guard lock(mutex_);
                if (result_)
                    return false;
                result_.emplace(std::move(result));
                callbacks.swap(callbacks_);
                changed_.notify_all();
            }
            for (auto& callback : callbacks)
                callback();
            return true;
        }
        void block() {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return result_.has_value(); });
        }
        /// Calls `callback` when the result is set, on the thread that sets it; at once if it is set.
        void onReady(std::function<void()> callback) {
            {
                std::lock_guard lock(mutex_);
                if (!result_)
                    return callbacks_.push_back(std::move(callback));
            }
            callback();
        }
        flow::ErrorOr<T> const& result() const { return *result_; }

        /// Set while the call waits. Only the main loop uses it.
        flow::Promise<flow::Void>* cancelled = nullptr;
        flow::Loop* home = nullptr;

    private:
        std::mutex mutex_; // guards the members below; a result does not change
        std::condition_variable changed_;
        std::optional<flow::ErrorOr<T>> result_;
        std::vector<std::function<void()>> callbacks_;
    };

    ThreadFuture() = default;
    ThreadFuture(T value) : state_(std::make_shared<State>()) { state_->set(std::move(value)); }
    ThreadFuture(flow::Error error) : state_(std::make_shared<State>()) {
        state_->set(flow::ErrorOr<T>::failed(error));
    }
    explicit ThreadFuture(std::shared_ptr<State> state) : state_(std::move(state)) {}

    bool isValid() const { return state_ != nullptr; }
    bool isReady() const { return state_->isReady(); }
    bool isError() const { return isReady() && state_->result().isError(); }
    flow::Error getError() const { return state_->result().getError(); }
    /// Returns the value of a ready future, or throws its error.
    T get() const {
        FLOW_ASSERT_TRUE(isReady());
        return state_->result().get();
    }
    /// Must not be called on the main loop's thread: nothing would make the future ready.
    void blockUntilReady() const { state_->block(); }
    T getBlocking() const {
        blockUntilReady();
        return get();
    }
    /// Fails the future with actor_cancelled, and cancels its actor on the main loop. Does nothing if it is ready.
    void cancel() {
        if (!state_->set(flow::ErrorOr<T>::failed(flow::actor_cancelled())) || !state_->home)
            return;
        state_->home->post([state = state_] {
            if (state->cancelled)
                state->cancelled->send(flow::Void());
        });
    }
    void onReady(std::function<void()> callback) const { state_->onReady(std::move(callback)); }

private:
    std::shared_ptr<State> state_;
};

namespace flow::compat {

template <class T>
coro::Detached answer(std::shared_ptr<typename ThreadFuture<T>::State> state, Future<T> future) {
    Promise<Void> cancelled;
    state->cancelled = &cancelled;
    [[maybe_unused]] auto first = co_await tryGet(success(future) || cancelled.getFuture());
    state->cancelled = nullptr;
    if (future.isReady())
        state->set(future.isError() ? ErrorOr<T>::failed(future.getError()) : ErrorOr<T>(future.get()));
}

} // namespace flow::compat

/// Calls function(), which returns a Future, on the main loop. Any thread may call this.
template <class F>
auto onMainThread(F function) {
    using T = typename std::invoke_result_t<F&>::Element;
    auto state = std::make_shared<typename ThreadFuture<T>::State>();
    state->home = &flow::compat::theMainLoop();
    state->home->post([state, function = std::move(function)]() mutable {
        if (state->isReady()) // it was cancelled
            return;
        try {
            flow::compat::answer<T>(state, function());
        } catch (...) {
            state->set(flow::ErrorOr<T>::failed(flow::currentError()));
        }
    });
    return ThreadFuture<T>(std::move(state));
}

/// Like onMainThread(), but ignores the result.
template <class F>
void onMainThreadVoid(F function, flow::TaskPriority priority = flow::TaskPriority::DefaultOnMainThread) {
    flow::compat::theMainLoop().post([function = std::move(function)]() mutable { (void)function(); }, priority);
}

/// Returns a future of the current loop with the same result. Dropping it does not cancel `other`.
template <class T>
flow::Future<T> unsafeThreadFutureToFuture(ThreadFuture<T> other) {
    auto signal = std::make_shared<ThreadReturnPromise<flow::Void>>();
    flow::Future<flow::Void> ready = signal->getFuture();
    other.onReady([signal] { signal->send(flow::Void()); });
    signal.reset();
    co_await ready;
    T value = other.get();
    if constexpr (!std::is_same_v<T, flow::Void>)
        co_return value;
}

/// Like unsafeThreadFutureToFuture(), but dropping the result cancels `other`.
template <class T>
flow::Future<T> safeThreadFutureToFuture(ThreadFuture<T> other) {
    flow::Future<T> own = unsafeThreadFutureToFuture(other);
    flow::ErrorOr<T> result = co_await flow::tryGet(own);
    if (result.isError(flow::error_code_actor_cancelled))
        other.cancel();
    if (result.isError())
        co_await flow::coro::fail(result.getError());
    if constexpr (!std::is_same_v<T, flow::Void>)
        co_return std::move(result).get();
}
