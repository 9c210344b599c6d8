#pragma once
// Calls from other threads to the main loop, and back, under the old header name.
//
//     ThreadFuture<int> size = onMainThread([&] { return countRows(); });      // any thread; countRows() is an actor
//     size.blockUntilReady();
//     use(size.get());
//
//     int rows = co_await safeThreadFutureToFuture(size);                      // on a loop; dropping it cancels `size`
//
// A ThreadFuture is one pointer to a state that its copies share; any thread may use any of them. The main loop is that
// of newNet2(), or the one that g_network->run() has run. It must exist as long as there are calls. New code that is on
// a loop calls onLoop() (flow/threads/on_loop.h).

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
    /// The state that copies share.
    class State : flow::NonCopyable {
    public:
        bool isReady() {
            std::lock_guard lock(mutex_);
            return result_.has_value();
        }
        /// Sets the result. Only the first call counts, and returns true.
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
        /// `callback` is called once it is ready, on the thread that makes it so.
        void onReady(std::function<void()> callback) {
            {
                std::lock_guard lock(mutex_);
                if (!result_)
                    return callbacks_.push_back(std::move(callback));
            }
            callback();
        }
        flow::ErrorOr<T> const& result() const { return *result_; }

        /// Set while the call waits. Used by the main loop alone.
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
    /// The value of a ready future. Throws its error.
    T get() const {
        FLOW_ASSERT_TRUE(isReady());
        return state_->result().get();
    }
    /// Not to be called on the main loop's thread: nothing would make it ready.
    void blockUntilReady() const { state_->block(); }
    T getBlocking() const {
        blockUntilReady();
        return get();
    }
    /// Fails it with actor_cancelled, and cancels its actor on the main loop. Does nothing if it is ready.
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

inline Loop& theMainLoop() {
    Loop* main = mainLoop;
    return main ? *main : Loop::current();
}

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

/// Calls function(), which gives a Future, on the main loop. From any thread.
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

/// Like onMainThread(), for a function with a result of no interest.
template <class F>
void onMainThreadVoid(F function, flow::TaskPriority priority = flow::TaskPriority::DefaultOnMainThread) {
    flow::compat::theMainLoop().post([function = std::move(function)]() mutable { (void)function(); }, priority);
}

/// A future of the current loop. Dropping it does not cancel the other one.
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

/// Like unsafeThreadFutureToFuture(), but dropping the result cancels the other future.
template <class T>
flow::Future<T> safeThreadFutureToFuture(ThreadFuture<T> other) {
    flow::Future<T> own = unsafeThreadFutureToFuture(other);
    flow::ErrorOr<T> result = co_await flow::tryGet(own);
    if (result.isError(flow::error_code_actor_cancelled))
        other.cancel();
    T value = result.get();
    if constexpr (!std::is_same_v<T, flow::Void>)
        co_return value;
}
