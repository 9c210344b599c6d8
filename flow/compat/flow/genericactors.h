#pragma once
// The generic actors under the old header name.

#include "../../flow.h"

using flow::AsyncMap;
using flow::AsyncTrigger;
using flow::AsyncVar;
using flow::brokenPromiseToNever;
using flow::cancellable;
using flow::delayed;
using flow::errorOr;
using flow::FlowLock;
using flow::FlowMutex;
using flow::forwardPromise;
using flow::getAll;
using flow::holdWhile;
using flow::holdWhileVoid;
using flow::map;
using flow::mapAsync;
using flow::quorum;
using flow::recurring;
using flow::recurringAsync;
using flow::reportErrors;
using flow::stopAfter;
using flow::store;
using flow::success;
using flow::timeout;
using flow::timeoutError;
using flow::trigger;
using flow::uncancellable;
using flow::waitForAll;
using flow::waitForAllReady;
using flow::waitForAny;
using flow::waitOrError;
using flow::YieldedAsyncMap;
using flow::yieldedFuture;
