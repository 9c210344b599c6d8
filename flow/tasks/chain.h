#pragma once
// then(), onValue(), onError(), onCancel(): call functions after a task, in a chain.
//
//     Task<int> words = load(here, key)
//                     | then([](Page page) { return count(page); })        // a value, or another task
//                     | onValue([](int const& n) { total += n; })
//                     | onError([](Error e) { report(e); })                 // not for actor_cancelled
//                     | onCancel([] { ++cancelled; });
//
// Each call makes a new task, with a frame from the memory resource of the first task. Nothing runs before the new task
// is awaited. then() replaces the value. onValue(), onError() and onCancel() keep the result: they call a function with
// the value, with the error, or without an argument. If a function throws, the task that was made with it fails with
// the error. `task.then(f)` means the same as `task | then(f)`.

#include "flow/tasks/task.h"

namespace flow {
namespace tasks {

template <class R>
struct Flat {
    using Type = std::conditional_t<std::is_void_v<R>, Void, R>;
};
template <class T, class E>
struct Flat<Task<T, E>> {
    using Type = T;
};

template <class F, class T>
struct ResultOfStep : std::invoke_result<F&, T> {};
template <class F>
    requires std::is_invocable_v<F&>
struct ResultOfStep<F, Void> : std::invoke_result<F&> {};

template <class F, class T>
decltype(auto) call(F& f, T&& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<T>, Void> && std::is_invocable_v<F&>)
        return f();
    else
        return f(std::forward<T>(value));
}

template <class T, class E, class F, class R = typename ResultOfStep<F, T>::type>
Task<typename Flat<R>::Type> runThen(Context, Task<T, E> task, F f) {
    T value = co_await std::move(task);
    if constexpr (std::is_void_v<R>) {
        call(f, std::move(value));
    } else if constexpr (requires { R::kIsTask; }) {
        R next = call(f, std::move(value));
        if constexpr (std::is_same_v<typename Flat<R>::Type, Void>) {
            co_await next;
        } else {
            typename Flat<R>::Type result = co_await std::move(next);
            co_return result;
        }
    } else {
        co_return call(f, std::move(value));
    }
}

template <Ending kEnding, class T, class E, class F>
Task<T> runOn(Context, Task<T, E> task, F f) {
    try {
        co_await task;
    } catch (...) {
        [[maybe_unused]] Error error = currentError();
        if constexpr (kEnding == Ending::Error) {
            if (error != actor_cancelled())
                f(error);
        } else if constexpr (kEnding == Ending::Cancel) {
            if (error == actor_cancelled())
                f();
        }
        throw;
    }
    if constexpr (std::is_same_v<T, Void>) {
        if constexpr (kEnding == Ending::Value)
            f();
    } else {
        T value = co_await std::move(task); // does not suspend: the task has ended already
        if constexpr (kEnding == Ending::Value)
            f(value);
        co_return value;
    }
}

template <class F>
struct Then {
    F f;
};
template <Ending kEnding, class F>
struct On {
    F f;
};

} // namespace tasks

template <class F>
tasks::Then<F> then(F f) {
    return {std::move(f)};
}
template <class F>
tasks::On<tasks::Ending::Value, F> onValue(F f) {
    return {std::move(f)};
}
template <class F>
tasks::On<tasks::Ending::Error, F> onError(F f) {
    return {std::move(f)};
}
template <class F>
tasks::On<tasks::Ending::Cancel, F> onCancel(F f) {
    return {std::move(f)};
}

template <class T, class E, class F>
auto operator|(Task<T, E>&& task, tasks::Then<F> step) {
    Context here = task.origin();
    return tasks::runThen(here, std::move(task), std::move(step.f));
}
template <class T, class E, tasks::Ending kEnding, class F>
Task<T> operator|(Task<T, E>&& task, tasks::On<kEnding, F> step) {
    Context here = task.origin();
    return tasks::runOn<kEnding>(here, std::move(task), std::move(step.f));
}

} // namespace flow
