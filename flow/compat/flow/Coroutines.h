#pragma once
// Functions and types for coroutines, under the old header name, with Generator and AsyncGenerator:
//
//     Generator<int> below(int end) {
//         for (int i = 0; i < end; ++i)
//             co_yield i;
//     }
//     for (Generator<int> each = below(10); each; ++each) use(*each);
//     for (int i : below(10)) use(i);
//
//     AsyncGenerator<int> doubled(FutureStream<int> numbers) {
//         for (;;)
//             co_yield 2 * co_await numbers;
//     }
//     AsyncGenerator<int> each = doubled(numbers);
//     while (each) use(co_await each());
//
// A Generator is the class of flow/tasks/generator.h, and runs to its first value at the first request. The call
// operator of an AsyncGenerator runs its body to the next co_yield, or to the next wait, and returns the future of the
// value. Await this future before the next call. An error of the body is the error of this future; at the end of the
// body it is end_of_stream. From then on the generator is false. Dropping it cancels the body.

#include "../../flow.h"
#include "../../tasks/generator.h"

#include <iterator>
#include <optional>
#include <utility>

template <class T>
class [[nodiscard]] Generator {
    using Made = flow::Generator<T>;

public:
    using promise_type = typename Made::promise_type;

    Generator(Made made) : made_(std::move(made)) {}

    /// Returns true if there is a value. Throws an error of the body.
    explicit operator bool() { return !(current() == std::default_sentinel); }
    T& operator*() { return *current(); }
    T* operator->() { return &*current(); }
    Generator& operator++() {
        FLOW_ASSERT_TRUE(*this);
        ++current();
        return *this;
    }
    auto begin() { return made_.begin(); }
    std::default_sentinel_t end() const { return {}; }

private:
    typename Made::Iterator& current() { return place_ ? *place_ : place_.emplace(made_.begin()); }

    Made made_;
    std::optional<typename Made::Iterator> place_;
};

namespace flow::compat {

/// The state that the body of an AsyncGenerator and its handle share.
template <class T>
class Meeting : public ReferenceCounted<Meeting<T>> {
public:
    struct Wanted {
        using Result = Void;
        Meeting* meeting;

        bool isReady() const { return meeting->isWanted_; }
        void park(WaiterNode& waiter) { meeting->body_.park(waiter, *this); }
        Void take() const {
            meeting->isWanted_ = false;
            return Void();
        }
    };

    Wanted wanted{this};

    bool isOver() const { return isOver_; }
    Future<T> ask() {
        if (isOver_)
            return Future<T>(end_of_stream());
        auto keep = Reference<Meeting>::addRef(this);
        next_ = Promise<T>();
        Future<T> next = next_.getFuture();
        isWanted_ = true;
        if (body_.isWaitedFor())
            body_.wakeFirst();
        return next;
    }
    template <class U>
    void give(U&& value) {
        Promise<T> next = std::exchange(next_, Promise<T>());
        next.send(std::forward<U>(value));
    }
    /// Called by the body, as its last use of this object.
    void end(Error error) {
        auto keep = Reference<Meeting>(this);
        isOver_ = true;
        Promise<T> next = std::exchange(next_, Promise<T>());
        next.sendError(error);
    }

private:
    Promise<T> next_;
    bool isWanted_ = false;
    bool isOver_ = false;
    Source<Wanted> body_;
};

template <class T, class S>
class AsyncGeneratorPromise;

} // namespace flow::compat

template <class T>
class [[nodiscard]] AsyncGenerator {
public:
    AsyncGenerator(AsyncGenerator&&) noexcept = default;
    AsyncGenerator& operator=(AsyncGenerator&&) noexcept = default;

    flow::Future<T> operator()() { return meeting_->ask(); }
    /// Returns true until the body has ended. It can only end after a request for a value.
    explicit operator bool() const { return !meeting_->isOver(); }

private:
    template <class, class>
    friend class flow::compat::AsyncGeneratorPromise;
    AsyncGenerator(flow::Future<flow::Void> body, flow::compat::Meeting<T>* meeting)
        : meeting_(flow::Reference<flow::compat::Meeting<T>>::addRef(meeting)), body_(std::move(body)) {}

    flow::Reference<flow::compat::Meeting<T>> meeting_;
    flow::Future<flow::Void> body_;
};

namespace flow::compat {

template <class T, class S>
class AsyncGeneratorPromise : public coro::CoroPromiseBase<Void, S> {
    using Base = coro::CoroPromiseBase<Void, S>;
    using Waits = coro::OperationAwaiter<typename Meeting<T>::Wanted, coro::Awaiter>;
    struct Begins : Waits {
        void await_resume() const { Waits::await_resume(); } // gcc 12 accepts only void in initial_suspend()
    };
    /// Sends the value when the body is suspended, so that the receiver may request the next one, or drop the body.
    struct Yields : Waits {
        T value;

        bool await_ready() {
            bool isReady = Waits::await_ready();
            if (isReady)
                this->op->meeting->give(std::move(value));
            return isReady;
        }
        void await_suspend(std::coroutine_handle<> handle) {
            Waits::await_suspend(handle);
            auto meeting = Reference<Meeting<T>>::addRef(this->op->meeting);
            T given = std::move(value);
            meeting->give(std::move(given));
        }
    };
    static_assert(!S::kIsPropagate, "the errors of an AsyncGenerator have to pass its body");

public:
    using Base::Base;
    ::AsyncGenerator<T> get_return_object() { return {this->future(), meeting_}; }
    Begins initial_suspend() noexcept {
        (void)Base::initial_suspend();
        return {{this, &meeting_->wanted}};
    }
    Yields yield_value(T const& value) { return {{this, &meeting_->wanted}, value}; }
    Yields yield_value(T&& value) { return {{this, &meeting_->wanted}, std::move(value)}; }
    void return_void() {
        Base::return_void();
        meeting_->end(end_of_stream());
    }
    void unhandled_exception() noexcept { meeting_->end(currentError()); }

private:
    Meeting<T>* meeting_ = new Meeting<T>; // a reference, until the body ends: the promise is not always destroyed
};

} // namespace flow::compat

template <class T, class... Args>
struct std::coroutine_traits<::AsyncGenerator<T>, Args...> {
    using promise_type = flow::compat::AsyncGeneratorPromise<T, flow::coro::Signature<std::remove_cv_t<Args>...>>;
};

#include "CoroUtils.h"
