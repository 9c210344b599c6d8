#pragma once
// The generic actors under the old header name.

#include "../../flow.h"
#include "../../lib/outcome.h"
#include "IAsyncListener.h"

#include <cstddef>
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

/// Holds the futures until it is cancelled.
template <class T>
flow::Future<flow::Void> cancelOnly([[maybe_unused]] std::vector<flow::Future<T>> futures) {
    co_await flow::Future<flow::Void>(flow::Never());
}

/// Whether one of the inputs is true, from here on, as a variable.
inline flow::Future<flow::Void> anyTrue(std::vector<flow::Reference<flow::AsyncVar<bool>>> inputs,
                                        flow::Reference<flow::AsyncVar<bool>> output) {
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

/// The value to all promises, `batchSize` of them in a turn of the loop.
template <class T>
flow::Future<flow::Void> incrementalBroadcast(flow::Future<T> input, std::vector<flow::Promise<T>> output,
                                              int batchSize) {
    T value = co_await input;
    for (std::size_t i = 0; i < output.size(); ++i) {
        output[i].send(value);
        if ((i + 1) % static_cast<std::size_t>(batchSize) == 0)
            co_await flow::delay(0);
    }
}
