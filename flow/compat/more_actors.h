#pragma once
// Rare generic actors of Flow, for flow/genericactors.actor.h of this folder. New code should write a coroutine.
//
//     Debouncer changes(0.5);                                 // onTrigger(): ready 0.5 s after the last change
//     wait(smartQuorum(replies, 2, 0.1));                     // two replies, and those that come within 0.1 s
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

/// Calls what() if the signal fails with another error than actor_cancelled.
template <class F>
Future<Void> triggerOnError(F what, Future<Void> signal, Propagate = {}) {
    ErrorOr<Void> result = co_await coro::outcome(std::move(signal));
    if (result.isError() && result.getError().code() != error_code_actor_cancelled)
        what();
}

/// Like reportErrors(), but does not report errors with the codes in `silent`.
template <class T>
Future<T> reportErrorsExcept(Future<T> what, char const* context, UID id, std::set<int> const* silent, Propagate = {},
                             ExplicitVoid = {}) {
    ErrorOr<T> result = co_await coro::outcome(what);
    if (result.isError() && !(silent && silent->contains(result.getError().code())))
        TraceEvent(SevError, context, id).error(result.getError());
    co_return co_await std::move(what);
}

/// Calls the actor again and again. If `absoluteIntervalDelay`, an interval begins at the end of a call, otherwise at
/// the start of a call. If `isJittered`, the intervals are those of delayJittered().
template <class F>
Future<Void> recurringAsync(F actor, double interval, bool absoluteIntervalDelay, double initialDelay,
                            TaskPriority priority = TaskPriority::DefaultDelay, bool isJittered = false,
                            Propagate = {}) {
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

// Streams. end_of_stream of the input is sent to the output; another error fails the actor.

template <class T, class Out, class Step>
Future<Void> eachOf(FutureStream<T> input, PromiseStream<Out> output, Step step, NoThrowOnCancel = {}) {
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

template <class T, class F, class Out = std::decay_t<std::invoke_result_t<F, T>>>
Future<Void> map(FutureStream<T> input, F function, PromiseStream<Out> output) {
    return eachOf(input, output, [function](T const& next, PromiseStream<Out>& to) {
        to.send(function(next));
        return Future<Void>(Void());
    });
}
template <class T, class F>
Future<Void> filter(FutureStream<T> input, F predicate, PromiseStream<T> output) {
    return eachOf(input, output, [predicate](T const& next, PromiseStream<T>& to) {
        if (predicate(next))
            to.send(next);
        return Future<Void>(Void());
    });
}
/// Like filter(), but waits for the future that the predicate returns, element by element.
template <class T, class F>
Future<Void> asyncFilter(FutureStream<T> input, F predicate, PromiseStream<T> output) {
    return eachOf(input, output, [predicate](T next, PromiseStream<T> to, Propagate = {}) -> Future<Void> {
        bool isWanted = co_await predicate(next);
        if (isWanted)
            to.send(std::move(next));
    });
}
template <class T>
Future<T> waitAndForward(FutureStream<T> input, Propagate = {}, ExplicitVoid = {}) {
    T next = co_await input;
    co_return next;
}
/// Returns the next element, or the error of `errorSignal` if it comes first. Ignores a value of `errorSignal`.
template <class T>
Future<T> waitOrError(FutureStream<T> stream, Future<Void> errorSignal, Propagate = {}, ExplicitVoid = {}) {
    auto first = co_await race(stream, std::move(errorSignal));
    if (first.index() == 0)
        co_return std::get<0>(std::move(first));
    T next = co_await stream;
    co_return next;
}

// ---------------------------------------------------------------------------------------------------------------------
// Several futures

/// Waits until all futures are ready, and then fails if one of them has failed.
template <class T>
Future<Void> waitForAllReadyThenThrow(std::vector<Future<T>> all, Propagate = {}) {
    co_await waitForAllReady(all);
    for (Future<T> const& each : all)
        co_await success(each);
}
/// Returns the elements of all vectors.
template <class T>
Future<std::vector<T>> appendAll(std::vector<Future<std::vector<T>>> all, Propagate = {}) {
    co_await waitForAll(all);
    std::vector<T> elements;
    for (Future<std::vector<T>> const& each : all)
        elements.insert(elements.end(), each.get().begin(), each.get().end());
    co_return elements;
}
/// Waits for `required` of the futures, and then at most `extraSeconds` for the others.
template <class T>
Future<Void> smartQuorum(std::vector<Future<T>> all, int required, double extraSeconds,
                         TaskPriority priority = TaskPriority::DefaultDelay, Propagate = {}) {
    if (all.empty() && required == 0)
        co_return;
    co_await quorum(all, required);
    co_await (waitForAll(all) || delay(extraSeconds, priority));
}
/// Waits for the futures in order. Returns false at the first that is false, and true if all are true.
inline Future<bool> allTrue(std::vector<Future<bool>> all, Propagate = {}) {
    for (Future<bool> const& each : all) {
        bool isTrue = co_await each;
        if (!isTrue)
            co_return false;
    }
    co_return true;
}
/// Returns the result of the future that is ready first.
template <class T>
Future<T> chooseActor(Future<T> a, Future<T> b, Propagate = {}, ExplicitVoid = {}) {
    auto first = co_await race(std::move(a), std::move(b));
    co_return first.index() == 0 ? std::get<0>(first) : std::get<1>(first);
}
/// Returns the result of `first` when `other` is ready too.
template <class T>
Future<T> joinWith(Future<T> first, Future<Void> other, Propagate = {}, ExplicitVoid = {}) {
    co_await std::move(other);
    co_return co_await std::move(first);
}

// ---------------------------------------------------------------------------------------------------------------------
// One after the other

/// Returns the result of `second` when `first` is ready.
template <class T, class U>
Future<U> runAfter(Future<T> first, Future<U> second) {
    return joinWith(std::move(second), success(std::move(first)));
}
/// Returns the result of the future that the function returns for the value.
template <class T, class F>
    requires std::invocable<F&, T>
auto runAfter(Future<T> first, F then) {
    return flow::mapAsync(std::move(first), std::move(then));
}
/// Returns the result of `what`. If `what` is ready at the call, other tasks run first.
template <class T>
Future<T> orYield(Future<T> what) {
    return what.isReady() ? joinWith(std::move(what), flow::yield()) : what;
}
/// Returns the result of `what`, and also sends it into the promise.
template <class T>
Future<T> forward(Future<T> what, Promise<T> to) {
    forwardPromise(to, what);
    return what;
}
/// Sends the seconds until the reply was ready; sends nothing if the promise of the reply is dropped.
template <class T>
Future<Void> timeReply(Future<T> reply, PromiseStream<double> seconds, Propagate = {}) {
    double begin = now();
    ErrorOr<T> result = co_await coro::outcome(std::move(reply));
    if (result.isError(error_code_broken_promise))
        co_return;
    if (result.isError())
        co_await coro::fail(result.getError());
    co_await delay(0);
    seconds.send(now() - begin);
}
/// Returns the result of `what`. When it is ready, writes an event of type `type`; for an error only if `traceErrors`.
template <class T, class X>
Future<T> traceAfter(Future<T> what, char const* type, char const* key, X value, bool traceErrors = false,
                     Propagate = {}, ExplicitVoid = {}) {
    ErrorOr<T> result = co_await coro::outcome(what);
    if (!result.isError())
        TraceEvent(type).detail(key, value);
    else if (traceErrors)
        TraceEvent(type).error(result.getError()).detail(key, value);
    co_return co_await what;
}
/// Like traceAfter(), with the function's result as the value. If it throws, writes "TraceAfterCallError".
template <class T, class F>
Future<T> traceAfterCall(Future<T> what, char const* type, char const* key, F function, bool traceErrors = false,
                         Propagate = {}, ExplicitVoid = {}) {
    ErrorOr<T> result = co_await coro::outcome(what);
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
/// Sets the event when the input is ready. Another thread waits for the event.
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
Future<Void> forward(Reference<AsyncVar<T>> from, AsyncTrigger* to, Propagate = {}) {
    for (;;) {
        co_await from->onChange();
        to->trigger();
    }
}

/// Sets the variable to `value` whenever it has had other values for `seconds`. If this happens more than
/// `warningLimit` times, at most `warningResetDelay` seconds after each other, writes an event of type `context`.
template <class T>
Future<Void> resetAfter(Reference<AsyncVar<T>> variable, double seconds, T value, int warningLimit = -1,
                        double warningResetDelay = 0, char const* context = nullptr, Propagate = {}) {
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
/// Copies the input's value to the output: after `seconds`, then `seconds` after each next change, and once more if it
/// fails or is cancelled.
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

/// A reference-counted object of any type.
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

/// Fires onTrigger() when `seconds` have passed since the last call of trigger().
class Debouncer : NonCopyable {
public:
    explicit Debouncer(double seconds) : worker_(work(this, seconds)) {}
    Future<Void> onTrigger() { return settled_.onTrigger(); }
    void trigger() { begun_.trigger(); }

private:
    static Future<Void> work(Debouncer* self, double seconds, Propagate = {}) {
        for (;;) {
            co_await self->begun_.onTrigger();
            bool isQuiet = false; // gcc 12 crashes where the condition of a loop waits (A0710)
            while (!isQuiet) {
                auto first = co_await race(self->begun_.onTrigger(), delay(seconds));
                isQuiet = first.index() == 1;
            }
            self->settled_
                .trigger(); // may destroy `*self`, which cancels this coroutine: then it ends at the next wait
            Future<Void> again = Void();
            co_await again;
        }
    }

    AsyncTrigger begun_, settled_;
    Future<Void> worker_;
};

} // namespace flow::compat
