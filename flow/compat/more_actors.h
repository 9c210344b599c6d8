#pragma once
// Generic actors of Flow that programs rarely use: flow/genericactors.actor.h of this folder brings them. New code
// writes a coroutine of its own instead.
//
//     Debouncer changes(0.5);                                 // onTrigger(): when nothing has changed for 0.5 s
//     wait(smartQuorum(replies, 2, 0.1));                     // two of them, and what comes within 0.1 s
//
// Cancel-safe: dropping the result releases the inputs.

#include "../flow.h"
#include "async_trigger.h"
#include "flow/ThreadPrimitives.h"

#include <concepts>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace flow::compat {

/// Calls `what()` if the signal fails; not if it is cancelled.
template <class F>
Future<Void> triggerOnError(F what, Future<Void> signal) {
    ErrorOr<Void> result = co_await tryGet(std::move(signal));
    if (result.isError() && result.getError().code() != error_code_actor_cancelled)
        what();
}

/// Like reportErrors(), but does not report errors with the codes in `silent`.
template <class T>
Future<T> reportErrorsExcept(Future<T> what, char const* context, UID id, std::set<int> const* silent,
                             ExplicitVoid = {}) {
    ErrorOr<T> result = co_await tryGet(std::move(what));
    Future<T> same = result.isError() ? Future<T>(result.getError()) : Future<T>(result.get());
    if (result.isError() && !(silent && silent->contains(result.getError().code())))
        same = reportErrors(same, context, id);
    co_return co_await same;
}

/// Calls the actor again and again. Each interval is counted from its end; if `absoluteIntervalDelay` is false, from
/// its begin. `isJittered`: by delayJittered().
template <class F>
Future<Void> recurringAsync(F actor, double interval, bool absoluteIntervalDelay, double initialDelay,
                            TaskPriority priority = TaskPriority::DefaultDelay, bool isJittered = false) {
    co_await delay(initialDelay, priority);
    for (;;) {
        double seconds = isJittered ? jittered(interval) : interval;
        Future<Void> pause;
        if (!absoluteIntervalDelay)
            pause = delay(seconds, priority);
        co_await actor();
        if (absoluteIntervalDelay)
            pause = delay(seconds, priority);
        co_await std::move(pause);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Streams. The end of the input, end_of_stream, is sent on; another error is that of the actor.

template <class T, class Out, class Step>
Future<Void> eachOf(FutureStream<T> input, PromiseStream<Out> output, Step step) {
    try {
        for (;;) {
            T next = co_await input;
            co_await step(std::move(next), output);
        }
    } catch (Error& e) {
        if (e.code() != error_code_end_of_stream)
            throw;
    }
    output.sendError(end_of_stream());
}

/// Sends the function's result for each element.
template <class T, class F, class Out = std::decay_t<std::invoke_result_t<F, T>>>
Future<Void> map(FutureStream<T> input, F function, PromiseStream<Out> output) {
    return eachOf(input, output, [function](T const& next, PromiseStream<Out>& to) {
        to.send(function(next));
        return Future<Void>(Void());
    });
}
/// Sends the elements for which the predicate is true.
template <class T, class F>
Future<Void> filter(FutureStream<T> input, F predicate, PromiseStream<T> output) {
    return eachOf(input, output, [predicate](T const& next, PromiseStream<T>& to) {
        if (predicate(next))
            to.send(next);
        return Future<Void>(Void());
    });
}
/// Sends the elements for which the future of the predicate is true, one after the other.
template <class T, class F>
Future<Void> asyncFilter(FutureStream<T> input, F predicate, PromiseStream<T> output) {
    return eachOf(input, output, [predicate](T next, PromiseStream<T> to) -> Future<Void> {
        bool isWanted = co_await predicate(next);
        if (isWanted)
            to.send(std::move(next));
    });
}
template <class T>
Future<T> waitAndForward(FutureStream<T> input) {
    T next = co_await input;
    co_return next;
}

// ---------------------------------------------------------------------------------------------------------------------
// Several futures

/// Waits until all futures are ready, and then fails if one of them has failed.
template <class T>
Future<Void> waitForAllReadyThenThrow(std::vector<Future<T>> all) {
    co_await waitForAllReady(all);
    for (Future<T> const& each : all)
        co_await success(each);
}
/// The elements of all the vectors.
template <class T>
Future<std::vector<T>> appendAll(std::vector<Future<std::vector<T>>> all) {
    co_await waitForAll(all);
    std::vector<T> elements;
    for (Future<std::vector<T>> const& each : all)
        elements.insert(elements.end(), each.get().begin(), each.get().end());
    co_return elements;
}
/// Waits for `required` of the futures, and then for the others, at most `extraSeconds`.
template <class T>
Future<Void> smartQuorum(std::vector<Future<T>> all, int required, double extraSeconds,
                         TaskPriority priority = TaskPriority::DefaultDelay) {
    if (all.empty() && required == 0)
        co_return;
    co_await quorum(all, required);
    co_await (waitForAll(all) || delay(extraSeconds, priority));
}
/// True if all are true. Waits no longer than for the first that is not.
inline Future<bool> allTrue(std::vector<Future<bool>> all) {
    for (Future<bool> const& each : all) {
        bool isTrue = co_await each;
        if (!isTrue)
            co_return false;
    }
    co_return true;
}
/// The result of the first of the two to be ready.
template <class T>
Future<T> chooseActor(Future<T> a, Future<T> b, ExplicitVoid = {}) {
    auto first = co_await race(std::move(a), std::move(b));
    co_return first.index() == 0 ? std::get<0>(first) : std::get<1>(first);
}
/// The result of `first`, when `other` is ready too.
template <class T>
Future<T> joinWith(Future<T> first, Future<Void> other, ExplicitVoid = {}) {
    co_await std::move(other);
    co_return co_await std::move(first);
}

// ---------------------------------------------------------------------------------------------------------------------
// One after the other

/// The result of `second`, when `first` is ready.
template <class T, class U>
Future<U> runAfter(Future<T> first, Future<U> second) {
    return joinWith(std::move(second), success(std::move(first)));
}
/// The future that the function makes of the value.
template <class T, class F>
    requires std::invocable<F&, T>
auto runAfter(Future<T> first, F then) {
    return flow::mapAsync(std::move(first), std::move(then));
}
/// The result of `what`. If it is ready at once, other tasks run first.
template <class T>
Future<T> orYield(Future<T> what) {
    return what.isReady() ? joinWith(std::move(what), flow::yield()) : what;
}
/// The result of `what`, which is also sent into the promise.
template <class T>
Future<T> forward(Future<T> what, Promise<T> to) {
    forwardPromise(to, what);
    return what;
}
/// Sends the seconds until the reply was ready; sends nothing if the promise of the reply is dropped.
template <class T>
Future<Void> timeReply(Future<T> reply, PromiseStream<double> seconds) {
    double begin = now();
    ErrorOr<T> result = co_await tryGet(std::move(reply));
    if (result.isError(error_code_broken_promise))
        co_return;
    (void)result.get();
    co_await delay(0);
    seconds.send(now() - begin);
}
/// The result of `what`. Writes an event of that type when it is ready; for an error only if `traceErrors`.
template <class T, class X>
Future<T> traceAfter(Future<T> what, char const* type, char const* key, X value, bool traceErrors = false,
                     ExplicitVoid = {}) {
    ErrorOr<T> result = co_await tryGet(what);
    if (!result.isError())
        TraceEvent(type).detail(key, value);
    else if (traceErrors)
        TraceEvent(type).error(result.getError()).detail(key, value);
    co_return co_await what;
}
/// Like traceAfter(), with the function's result for the value. If the function throws, writes "TraceAfterCallError".
template <class T, class F>
Future<T> traceAfterCall(Future<T> what, char const* type, char const* key, F function, bool traceErrors = false,
                         ExplicitVoid = {}) {
    ErrorOr<T> result = co_await tryGet(what);
    if (result.isError()) {
        if (traceErrors)
            TraceEvent(type).errorUnsuppressed(result.getError());
    } else {
        try {
            auto value = function(result.get());
            TraceEvent(type).detail(key, value);
        } catch (Error& e) {
            TraceEvent(SevError, "TraceAfterCallError").error(e);
        }
    }
    co_return co_await what;
}
/// Sets the event, for a thread that waits for it, when the input is ready.
template <class T>
void forwardEvent(::Event* event, Future<T> input) {
    [](::Event* to, Future<T> from) -> coro::Detached {
        (void)co_await tryGet(std::move(from));
        to->set();
    }(event, std::move(input));
}

/// Sets the event at the first element of a stream, or at its error.
template <class T>
void forwardEvent(::Event* event, T* element, Error* error, FutureStream<T> input) {
    [](::Event* to, T* value, Error* failure, FutureStream<T> from) -> coro::Detached {
        try {
            *value = co_await from;
        } catch (Error& e) {
            *failure = e;
        }
        to->set();
    }(event, element, error, std::move(input));
}

// ---------------------------------------------------------------------------------------------------------------------
// Variables

/// Triggers `to` whenever the variable changes.
template <class T>
Future<Void> forward(Reference<AsyncVar<T>> from, AsyncTrigger* to) {
    for (;;) {
        co_await from->onChange();
        to->trigger();
    }
}

/// Sets the variable to `value` whenever it has had other values for `seconds`. With `context`, it writes an event of
/// that type when it has done so more than `warningLimit` times, with at most `warningResetDelay` seconds between two.
template <class T>
Future<Void> resetAfter(Reference<AsyncVar<T>> variable, double seconds, T value, int warningLimit = -1,
                        double warningResetDelay = 0, char const* context = nullptr) {
    int resets = 0;
    double lastReset = now();
    for (;;) {
        while (variable->get() == value)
            co_await variable->onChange();
        Future<Void> end = delay(seconds);
        while (!(variable->get() == value)) {
            auto first = co_await race(end, variable->onChange());
            if (first.index() == 1)
                continue;
            variable->set(value);
            resets = now() - lastReset > warningResetDelay ? 1 : resets + 1;
            if (context && warningLimit >= 0 && resets > warningLimit)
                TraceEvent(SevWarnAlways, context).detail("ResetCount", resets).detail("LastReset", now() - lastReset);
            lastReset = now();
        }
    }
}
/// Copies the input's value to the output: first after `seconds`, and then `seconds` after the first change that
/// follows each copy. An error ends it, after one more copy.
template <class T>
Future<Void> delayedAsyncVar(Reference<AsyncVar<T>> input, Reference<AsyncVar<T>> output, double seconds) {
    try {
        for (;;) {
            co_await delay(seconds);
            output->set(input->get());
            co_await input->onChange();
        }
    } catch (Error&) {
        output->set(input->get());
        throw;
    }
}

/// A reference-counted object of a type that has no base class for that.
template <class T>
class ReferencedObject : NonCopyable, public ReferenceCounted<ReferencedObject<T>> {
public:
    ReferencedObject() = default;
    explicit ReferencedObject(T object) : object_(std::move(object)) {}
    T const& get() const { return object_; }
    T& mutate() { return object_; }
    void set(T object) { object_ = std::move(object); }
    static Reference<ReferencedObject> from(T object) { return makeReference<ReferencedObject>(std::move(object)); }

private:
    T object_{};
};

/// Triggers when trigger() has been called, and then not again for a while.
class Debouncer : NonCopyable {
public:
    explicit Debouncer(double seconds) : worker_(work(this, seconds)) {}
    Future<Void> onTrigger() { return settled_.onTrigger(); }
    void trigger() { begun_.trigger(); }

private:
    static Future<Void> work(Debouncer* self, double seconds) {
        for (;;) {
            co_await self->begun_.onTrigger();
            bool isQuiet = false; // gcc 12 crashes where the condition of a loop waits (A0710)
            while (!isQuiet) {
                auto first = co_await race(self->begun_.onTrigger(), delay(seconds));
                isQuiet = first.index() == 1;
            }
            self->settled_.trigger();
        }
    }

    AsyncTrigger begun_, settled_;
    Future<Void> worker_;
};

} // namespace flow::compat
