#pragma once
// The generic actors under the old header name.

#include "../../flow.h"
#include "../async_map.h"
#include "../async_trigger.h"
#include "../flow_lock.h"
#include "../flow_mutex.h"
#include "../kept_futures.h"
#include "../merged_streams.h"
#include "../more_actors.h"
#include "../more_locks.h"
#include "../outcome.h"
#include "../stop_after.h"
#include "../waiting_actors.h"
#include "IAsyncListener.h"
#include "network.h"

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

using flow::AsyncMap;
using flow::AsyncTrigger;
using flow::AsyncVar;
using flow::broadcast;
using flow::brokenPromiseToNever;
using flow::cancellable;
using flow::delayed;
using flow::errorOr;
using flow::FlowLock;
using flow::FlowMutex;
using flow::fmap;
using flow::forwardPromise;
using flow::getAll;
using flow::holdWhile;
using flow::holdWhileVoid;
using flow::lowPriorityDelay;
using flow::map;
using flow::mapAsync;
using flow::onEqual;
using flow::quorum;
using flow::quorumEqualsTrue;
using flow::ready;
using flow::recurring;
using flow::recurringAsync;
using flow::reportErrors;
using flow::returnIfTrue;
using flow::setAfter;
using flow::setWhenDoneOrError;
using flow::shortCircuitAny;
using flow::stopAfter;
using flow::store;
using flow::success;
using flow::tag;
using flow::tagError;
using flow::throwErrorOr;
using flow::timeout;
using flow::timeoutError;
using flow::transformError;
using flow::transformErrors;
using flow::trigger;
using flow::uncancellable;
using flow::waitForAll;
using flow::waitForAllReady;
using flow::waitForAny;
using flow::waitOrError;
using flow::YieldedAsyncMap;
using flow::yieldedFuture;

using flow::compat::ActiveCounter;
using flow::compat::allTrue;
using flow::compat::AndFuture;
using flow::compat::appendAll;
using flow::compat::asyncFilter;
using flow::compat::BoundedFlowLock;
using flow::compat::brokenPromiseToMaybeDelivered;
using flow::compat::checkUntil;
using flow::compat::chooseActor;
using flow::compat::Debouncer;
using flow::compat::delayActionJittered;
using flow::compat::delayAfterCleared;
using flow::compat::delayedAsyncVar;
using flow::compat::detach;
using flow::compat::filter;
using flow::compat::forward;
using flow::compat::forwardErrors;
using flow::compat::forwardEvent;
using flow::compat::ioDegradedOrTimeoutError;
using flow::compat::ioTimeoutError;
using flow::compat::joinWith;
using flow::compat::lowPriorityDelayAfterCleared;
using flow::compat::makeStream;
using flow::compat::map;
using flow::compat::mapAsync;
using flow::compat::Notified;
using flow::compat::NotifiedDouble;
using flow::compat::NotifiedInt;
using flow::compat::orderedMergeStreams;
using flow::compat::orYield;
using flow::compat::parseStringToUnorderedSet;
using flow::compat::parseStringToVector;
using flow::compat::recurringAsync;
using flow::compat::ReferencedObject;
using flow::compat::reportErrorsExcept;
using flow::compat::require;
using flow::compat::resetAfter;
using flow::compat::runAfter;
using flow::compat::smartQuorum;
using flow::compat::sorted;
using flow::compat::storeOrThrow;
using flow::compat::tag;
using flow::compat::tagAndForward;
using flow::compat::tagAndForwardError;
using flow::compat::timeoutErrorIfCleared;
using flow::compat::timeoutWarning;
using flow::compat::timeoutWarningCollector;
using flow::compat::timeReply;
using flow::compat::traceAfter;
using flow::compat::traceAfterCall;
using flow::compat::triggerOnError;
using flow::compat::uncancellable;
using flow::compat::unorderedMergeStreams;
using flow::compat::UnsafeWeakFutureReference;
using flow::compat::waitAndForward;
using flow::compat::waitForAllReadyThenThrow;
using flow::compat::waitForFirst;
using flow::compat::waitForMost;
using flow::compat::waitOrError;
using flow::compat::WorkerCache;
using flow::compat::yieldPromiseStream;

// Overloads for delay(): it returns no Future, so the templates above cannot deduce T.
#define FLOW_OF_DELAY_IN(space, name)                                                                                  \
    template <class... Args>                                                                                           \
    auto name(flow::compat::NetworkDelay what, Args&&... args) {                                                       \
        return space::name(flow::Future<flow::Void>(what), std::forward<Args>(args)...);                               \
    }
#define FLOW_OF_DELAY(name) FLOW_OF_DELAY_IN(flow, name)
FLOW_OF_DELAY(brokenPromiseToNever)
FLOW_OF_DELAY(broadcast)
FLOW_OF_DELAY(cancellable)
FLOW_OF_DELAY(delayed)
FLOW_OF_DELAY(errorOr)
FLOW_OF_DELAY(map)
FLOW_OF_DELAY(mapAsync)
FLOW_OF_DELAY(ready)
FLOW_OF_DELAY(reportErrors)
FLOW_OF_DELAY(stopAfter)
FLOW_OF_DELAY(transformError)
FLOW_OF_DELAY(transformErrors)
FLOW_OF_DELAY(uncancellable)
FLOW_OF_DELAY(waitOrError)
FLOW_OF_DELAY_IN(flow::compat, brokenPromiseToMaybeDelivered)
FLOW_OF_DELAY_IN(flow::compat, chooseActor)
FLOW_OF_DELAY_IN(flow::compat, delayActionJittered)
FLOW_OF_DELAY_IN(flow::compat, detach)
FLOW_OF_DELAY_IN(flow::compat, forward)
FLOW_OF_DELAY_IN(flow::compat, forwardErrors)
FLOW_OF_DELAY_IN(flow::compat, ioTimeoutError)
FLOW_OF_DELAY_IN(flow::compat, joinWith)
FLOW_OF_DELAY_IN(flow::compat, orYield)
FLOW_OF_DELAY_IN(flow::compat, reportErrorsExcept)
FLOW_OF_DELAY_IN(flow::compat, runAfter)
FLOW_OF_DELAY_IN(flow::compat, timeoutErrorIfCleared)
FLOW_OF_DELAY_IN(flow::compat, timeoutWarning)
FLOW_OF_DELAY_IN(flow::compat, timeReply)
FLOW_OF_DELAY_IN(flow::compat, traceAfter)
#undef FLOW_OF_DELAY
#undef FLOW_OF_DELAY_IN
template <class Out>
void forwardPromise(Out output, flow::compat::NetworkDelay what) {
    flow::forwardPromise(std::move(output), flow::Future<flow::Void>(what));
}
template <class F>
auto fmap(F function, flow::compat::NetworkDelay what) {
    return flow::fmap(std::move(function), flow::Future<flow::Void>(what));
}
template <class T>
auto holdWhile(T const& object, flow::compat::NetworkDelay what) {
    return flow::holdWhile(object, flow::Future<flow::Void>(what));
}
template <class T>
auto holdWhileVoid(T const& object, flow::compat::NetworkDelay what) {
    return flow::holdWhileVoid(object, flow::Future<flow::Void>(what));
}

/// Returns the result of `second` when `first` is ready.
template <class T, class U>
flow::Future<U> operator+(flow::Future<T> first, flow::Future<U> second) {
    return flow::compat::runAfter(std::move(first), std::move(second));
}
template <class U>
flow::Future<U> operator+(flow::compat::NetworkDelay first, flow::Future<U> second) {
    return flow::Future<flow::Void>(first) + std::move(second);
}
template <class T>
flow::Future<flow::Void> operator+(flow::Future<T> first, flow::compat::NetworkDelay second) {
    return std::move(first) + flow::Future<flow::Void>(second);
}

/// Returns the function's result for the value of `first`.
template <class T, class F>
    requires std::invocable<F&, T>
auto operator>>=(flow::Future<T> first, F&& then) {
    return flow::compat::runAfter(std::move(first), std::forward<F>(then));
}
template <std::invocable<flow::Void> F>
auto operator>>=(flow::compat::NetworkDelay first, F&& then) {
    return flow::Future<flow::Void>(first) >>= std::forward<F>(then);
}
/// Returns the result of `second` when `first` is ready.
template <class T, class U>
flow::Future<U> operator>>(flow::Future<T> const& first, flow::Future<U> const& second) {
    return flow::compat::runAfter(first, second);
}
template <class U>
flow::Future<U> operator>>(flow::compat::NetworkDelay first, flow::Future<U> const& second) {
    return flow::Future<flow::Void>(first) >> second;
}
template <class T>
flow::Future<flow::Void> operator>>(flow::Future<T> const& first, flow::compat::NetworkDelay second) {
    return first >> flow::Future<flow::Void>(second);
}

/// Holds the futures until the result is dropped. Never ends.
template <class T>
flow::Future<flow::Void> cancelOnly([[maybe_unused]] std::vector<flow::Future<T>> futures, flow::Propagate = {}) {
    co_await flow::Never();
}

/// Keeps `output` true while one of the inputs is true, and false otherwise.
inline flow::Future<flow::Void> anyTrue(std::vector<flow::Reference<flow::AsyncVar<bool>>> inputs,
                                        flow::Reference<flow::AsyncVar<bool>> output, flow::Propagate = {}) {
    while (true) {
        bool isTrue = false;
        std::vector<flow::Future<flow::Void>> changes;
        for (auto const& input : inputs) {
            isTrue = isTrue || input->get();
            changes.push_back(input->onChange());
        }
        output->set(isTrue);
        co_await flow::waitForAny(std::move(changes));
    }
}

/// Sends the value to all promises, `batchSize` of them per turn of the loop.
template <class T>
flow::Future<flow::Void> incrementalBroadcast(flow::Future<T> input, std::vector<flow::Promise<T>> output,
                                              int batchSize, flow::Propagate = {}, flow::ExplicitVoid = {}) {
    T value = co_await input;
    for (std::size_t i = 0; i < output.size(); ++i) {
        output[i].send(value);
        if ((i + 1) % static_cast<std::size_t>(batchSize) == 0)
            co_await flow::delay(0);
    }
    co_return flow::Void();
}

/// Like incrementalBroadcast(), but sends an error of `input` to all promises.
template <class T>
flow::Future<flow::Void> incrementalBroadcastWithError(flow::Future<T> input, std::vector<flow::Promise<T>> output,
                                                       int batchSize, flow::Propagate = {}) {
    flow::ErrorOr<T> result = co_await flow::coro::outcome(std::move(input));
    for (std::size_t i = 0; i < output.size(); ++i) {
        if (result.isError())
            output[i].sendError(result.getError());
        else
            output[i].send(result.get());
        if ((i + 1) % static_cast<std::size_t>(batchSize) == 0)
            co_await flow::delay(0);
    }
}

/// Sends each element of the vector to its promise. There must be as many promises as elements.
template <class T>
flow::Future<flow::Void> forwardVector(flow::Future<std::vector<T>> values, std::vector<flow::Promise<T>> out,
                                       flow::Propagate = {}) {
    std::vector<T> all = co_await values;
    FLOW_ASSERT_TRUE(all.size() == out.size());
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i].send(all[i]);
}

/// Keeps `output` equal to the object in the input's bytes, or empty if there are none. Fails if the bytes are no
/// object.
template <class T>
flow::Future<flow::Void> asyncDeserialize(flow::Reference<flow::AsyncVar<flow::Standalone<flow::StringRef>>> input,
                                          flow::Reference<flow::AsyncVar<flow::Optional<T>>> output,
                                          flow::Propagate = {}) {
    while (true) {
        flow::Future<flow::Void> change = input->onChange();
        if (input->get().size() > 0)
            output->set(flow::ObjectReader::fromStringRef<T>(input->get(), flow::IncludeVersion()));
        else
            output->set(flow::Optional<T>());
        co_await change;
    }
}

#include "flow.h" // as in Flow; must be last, because it includes this file
