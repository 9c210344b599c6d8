#pragma once
// More rare generic actors of Flow, for flow/genericactors.actor.h of this folder: they wait for some time or for one
// of several futures, or pass results on. New code should write a coroutine.
//
//     wait(timeoutErrorIfCleared(reply, isPaused, 5.0));      // the time begins anew when isPaused becomes false
//     Page page = wait(waitForFirst(replies));
//     int port = wait(require(lookup, error_code_lookup_failed));
//
// Cancel-safe: dropping the result releases the inputs.

#include "../flow.h"
#include "flow/compat/outcome.h"
#include "more_actors.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace flow::compat {

// ---------------------------------------------------------------------------------------------------------------------
// Time

/// Returns when the variable has been false for `seconds`.
inline Future<Void> delayAfterCleared(Reference<AsyncVar<bool>> condition, double seconds,
                                      TaskPriority priority = TaskPriority::DefaultDelay, Propagate = {}) {
    for (bool isOver = false; !isOver;) {
        Future<Void> change = condition->onChange();
        if (condition->get())
            co_await std::move(change);
        else
            isOver = (co_await race(std::move(change), delay(seconds, priority))).index() == 1;
    }
}
/// Like delayAfterCleared(), with lowPriorityDelay().
inline Future<Void> lowPriorityDelayAfterCleared(Reference<AsyncVar<bool>> condition, double seconds, Propagate = {}) {
    for (bool isOver = false; !isOver;) {
        Future<Void> change = condition->onChange();
        if (condition->get())
            co_await std::move(change);
        else
            isOver = (co_await race(std::move(change), lowPriorityDelay(seconds))).index() == 1;
    }
}
/// Like timeoutError(); the time begins anew when the variable becomes false, and stands still while it is true.
template <class T>
Future<T> timeoutErrorIfCleared(Future<T> what, Reference<AsyncVar<bool>> condition, double seconds,
                                TaskPriority priority = TaskPriority::DefaultDelay) {
    return chooseActor(what, tagError<T>(delayAfterCleared(std::move(condition), seconds, priority), timed_out()));
}
/// Returns the result of `what`, after a wait of delayJittered(seconds).
template <class T>
Future<T> delayActionJittered(Future<T> what, double seconds) {
    return joinWith(std::move(what), delayJittered(seconds));
}
/// Like timeoutError(), but throws io_timeout (in a simulation, as an injected fault), and writes an event of SevError.
template <class T>
Future<T> ioTimeoutError(Future<T> what, double seconds, char const* context = nullptr, Propagate = {},
                         ExplicitVoid = {}) {
    auto first = co_await race(ready(what), lowPriorityDelay(seconds));
    if (first.index() == 1) {
        Error error = Loop::current().isSimulated() ? io_timeout().asInjectedFault() : io_timeout();
        TraceEvent event(SevError, "IoTimeoutError");
        event.error(error);
        if (context)
            event.detail("Context", context);
        throw error;
    }
    co_return co_await std::move(what);
}
/// Like ioTimeoutError(). Also sets `degraded`, with an event, after `degradedSeconds`.
template <class T>
Future<T> ioDegradedOrTimeoutError(Future<T> what, double seconds, Reference<AsyncVar<bool>> degraded,
                                   double degradedSeconds, char const* context = nullptr, Propagate = {},
                                   ExplicitVoid = {}) {
    double rest = seconds;
    if (degradedSeconds < seconds) {
        auto first = co_await race(ready(what), lowPriorityDelay(degradedSeconds));
        if (first.index() == 1) {
            TraceEvent event(SevWarnAlways, "IoDegraded");
            if (context)
                event.detail("Context", context);
            degraded->set(true);
        }
        rest -= degradedSeconds;
    }
    Future<T> same = ioTimeoutError(std::move(what), rest, context);
    co_return co_await std::move(same);
}
/// Calls the function after each interval, until it returns true.
template <class F>
Future<Void> checkUntil(double interval, F isDone, TaskPriority priority = TaskPriority::DefaultDelay, Propagate = {}) {
    do
        co_await delay(interval, priority);
    while (!isDone());
}
/// Returns the result of `what`. Sends a Void to the stream after each interval in which it is not ready.
template <class T>
Future<T> timeoutWarning(Future<T> what, double interval, PromiseStream<Void> output, Propagate = {},
                         ExplicitVoid = {}) {
    for (;;) {
        auto first = co_await race(ready(what), delay(interval));
        if (first.index() == 0)
            break;
        output.send(Void());
    }
    co_return co_await std::move(what);
}
/// After each interval in which elements came, writes an event of type `context` with their number.
inline Future<Void> timeoutWarningCollector(FutureStream<Void> input, double interval, char const* context, UID id,
                                            Propagate = {}) {
    for (;;) {
        std::int64_t count = 0;
        Future<Void> end = delay(interval);
        for (bool isOver = false; !isOver; count += !isOver) {
            auto first = co_await race(input, end);
            isOver = first.index() == 1;
        }
        if (count > 0)
            TraceEvent(SevWarn, context, id).detail("LateProcessCount", count).detail("LoggingDelay", interval);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Several futures

/// Waits until all but `faultTolerance` have a value, and then for the rest, at most `factor` times as long again.
/// Throws `failure` if too many fail.
inline Future<Void> waitForMost(std::vector<Future<ErrorOr<Void>>> all, int faultTolerance, Error failure,
                                double factor = 1.0, Propagate = {}) {
    double begin = now();
    std::vector<Future<bool>> haveValues;
    for (Future<ErrorOr<Void>> const& each : all)
        haveValues.push_back(fmap([](ErrorOr<Void> const& result) { return result.present(); }, each));
    bool areEnough = co_await quorumEqualsTrue(haveValues, static_cast<int>(all.size()) - faultTolerance);
    if (!areEnough)
        co_await coro::fail(failure);
    co_await (delay((now() - begin) * factor) || waitForAll(haveValues));
}
/// Returns the first value or error.
template <class T>
Future<T> waitForFirst(std::vector<Future<T>> all) {
    return flow::map(race(std::move(all)), [](Winner<T> first) { return std::move(first).value(); });
}
/// Sends the values and errors as they come, for as long as the result is held.
template <class T>
Future<Void> makeStream(std::vector<Future<T>> const& all, PromiseStream<T>& values, PromiseStream<Error>& errors) {
    auto forwardOne = [](Future<T> from, PromiseStream<T> value, PromiseStream<Error> error,
                         Propagate = {}) -> Future<Void> {
        ErrorOr<T> result = co_await coro::outcome(std::move(from));
        if (!result.isError())
            value.send(std::move(result).get());
        else if (!result.isError(error_code_actor_cancelled))
            error.send(result.getError());
    };
    std::vector<Future<Void>> running;
    for (Future<T> const& each : all)
        running.push_back(forwardOne(each, values, errors));
    return [](std::vector<Future<Void>>, Propagate = {}) -> Future<Void> { co_await Never(); }(std::move(running));
}

/// Returns a future of the function's result for each future.
template <class T, class F>
auto map(std::vector<Future<T>> const& all, F function) {
    std::vector<Future<std::decay_t<std::invoke_result_t<F, T>>>> made;
    for (Future<T> const& each : all)
        made.push_back(flow::map(each, function));
    return made;
}
template <class T, class F>
auto mapAsync(std::vector<Future<T>> const& all, F actor) {
    std::vector<decltype(flow::mapAsync(all.front(), actor))> made;
    for (Future<T> const& each : all)
        made.push_back(flow::mapAsync(each, actor));
    return made;
}
/// Sends the result of the actor for each element, in the order of the elements. The actors run at the same time. At
/// the end of the input, sends end_of_stream. Sends any other error too, and also throws it.
template <class T, class F, class U = typename std::decay_t<std::invoke_result_t<F, T>>::Element>
Future<Void> mapAsync(FutureStream<T> input, F actor, PromiseStream<U> output, ExplicitVoid = {}) {
    std::deque<Future<U>> running;
    Error end;
    while (!end.isValid() || !running.empty()) {
        try {
            if (end.isValid()) {
                output.send(co_await running.front());
                running.pop_front();
                continue;
            }
            Future<U> oldest = running.empty() ? Future<U>(Never()) : running.front();
            auto first = co_await race(input, oldest);
            if (first.index() == 0) {
                running.push_back(actor(std::get<0>(std::move(first))));
            } else {
                running.pop_front();
                output.send(std::get<1>(std::move(first)));
            }
        } catch (...) {
            Error e = currentError();
            if (e.code() != error_code_end_of_stream || end.isValid()) {
                output.sendError(e);
                throw;
            }
            end = e;
        }
    }
    output.sendError(end_of_stream());
    co_return Void();
}
/// Sends the elements, and lets other tasks run after each.
template <class T>
Future<Void> yieldPromiseStream(FutureStream<T> input, PromiseStream<T> output,
                                TaskPriority priority = TaskPriority::DefaultYield, Propagate = {}) {
    for (;;) {
        T next = co_await input;
        output.send(std::move(next));
        co_await yield(priority);
    }
}

// ---------------------------------------------------------------------------------------------------------------------
// Values and errors

/// Returns the result of `what`, with request_maybe_delivered in place of broken_promise.
template <class T>
Future<T> brokenPromiseToMaybeDelivered(Future<T> what) {
    return transformError(std::move(what), broken_promise(), request_maybe_delivered());
}
/// Returns the value; throws an error with the code `errorCode` if there is none.
template <class T>
Future<T> require(Future<Optional<T>> what, int errorCode, Propagate = {}, ExplicitVoid = {}) {
    Optional<T> found = co_await std::move(what);
    if (!found.present())
        throw Error(errorCode);
    co_return std::move(found).get();
}
/// Assigns the value to `out`; throws the error if there is none.
template <class T>
Future<Void> storeOrThrow(T& out, Future<Optional<T>> what, Error error, Propagate = {}) {
    Optional<T> found = co_await std::move(what);
    if (!found.present())
        throw error;
    out = std::move(found).get();
}
/// Returns the result of `what`. Its error or its cancel also ends the stream, as in Flow.
template <class T, class U>
Future<T> forwardErrors(Future<T> what, PromiseStream<U> output, ExplicitVoid = {}) {
    ErrorOr<T> result = co_await tryGet(what);
    if (result.isError()) {
        output.sendError(result.getError());
        co_await coro::fail(result.getError());
    }
    co_return std::move(result).get();
}
/// Returns the result of `what` as another future: cancelling one does not cancel the other.
template <class T>
Future<T> detach(Future<T> what) {
    return joinWith(std::move(what), Future<Void>(Void()));
}

/// Sends the value when the signal is ready; drops `to` if the signal fails.
template <class To, class U>
coro::Detached sendWhen(To to, U value, Future<Void> signal) {
    ErrorOr<Void> result = co_await tryGet(std::move(signal));
    if (!result.isError())
        to.send(std::move(value));
}
template <class To>
coro::Detached sendErrorWhen(To to, Error error, Future<Void> signal) {
    ErrorOr<Void> result = co_await tryGet(std::move(signal));
    if (!result.isError())
        to.sendError(error);
}

/// Sends the value when the signal is ready. Moves the promise from the caller.
template <class T, class U>
void tagAndForward(Promise<T>* promise, U value, Future<Void> signal) {
    sendWhen(std::move(*promise), std::move(value), std::move(signal));
}
template <class T>
void tagAndForwardError(Promise<T>* promise, Error error, Future<Void> signal) {
    sendErrorWhen(std::move(*promise), error, std::move(signal));
}
/// Sends the value when the signal is ready. The caller keeps the stream.
template <class T, class U>
void tagAndForward(PromiseStream<T>* output, U value, Future<Void> signal) {
    sendWhen(*output, std::move(value), std::move(signal));
}
template <class T>
void tagAndForwardError(PromiseStream<T>* output, Error error, Future<Void> signal) {
    sendErrorWhen(*output, error, std::move(signal));
}
template <class T>
Future<Void> tag(Future<Void> signal, T value, PromiseStream<T> output, Propagate = {}) {
    co_await std::move(signal);
    output.send(std::move(value));
}
/// Sends the value or the error of `what` into the promise `result`. Nothing can cancel this wait.
template <class T>
void uncancellable(Future<T> what, Promise<T> result) {
    forwardPromise(std::move(result), std::move(what));
}

// ---------------------------------------------------------------------------------------------------------------------
// No futures

template <class T>
T sorted(T range) {
    std::sort(range.begin(), range.end());
    return range;
}
/// Reads each part between delimiters by `>>`; T() for a part without a value.
template <class T>
std::vector<T> parseStringToVector(std::string const& text, char delimiter) {
    std::vector<T> all;
    std::string part;
    for (std::istringstream parts(text); parts.good();) {
        std::getline(parts, part, delimiter);
        T item{};
        std::istringstream(part) >> item;
        all.push_back(std::move(item));
    }
    return all;
}
template <class T>
std::unordered_set<T> parseStringToUnorderedSet(std::string const& text, char delimiter) { // nondeterminism: its type
    std::vector<T> all = parseStringToVector<T>(text, delimiter);
    return {all.begin(), all.end()};
}

} // namespace flow::compat
