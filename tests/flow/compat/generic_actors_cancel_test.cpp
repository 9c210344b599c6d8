// Every generic actor of flow/compat and its headers that gives a future, cancelled at each step: see
// tests/flow/support/cancel_everywhere.h. The others stand in tests/flow/combine/every_cancel_test.cpp.
#include "flow/compat/flow/IAsyncListener.h"
#include "flow/compat/flow/ThreadHelper.h"
#include "flow/compat/flow/genericactors.h"
#include "flow/sim/sim_loop.h"
#include "flow/trace/sink.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/throws.h"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using flow::test::AnyFuture;
using flow::test::cancelEverywhere;
using flow::test::Inputs;
using flow::test::Sentinel;

namespace {

using Numbers = std::vector<Future<int>>;

Numbers three(Inputs& in) {
    return {in.number(0), in.number(1), in.number(2)};
}
Future<bool> answer(Inputs& in, int i) {
    return flow::map(in.number(i), [](int) { return true; });
}
std::vector<Future<bool>> threeAnswers(Inputs& in) {
    return {answer(in, 0), answer(in, 1), answer(in, 2)};
}
Future<Optional<int>> found(Inputs& in, int i) {
    return flow::map(in.number(i), [](int n) { return Optional<int>(n); });
}
template <class T>
PromiseStream<T> output(Inputs& in) {
    return in.keep<PromiseStream<T>>();
}
template <class T>
Promise<T> promise(Inputs& in) {
    return in.keep<Promise<T>>();
}
/// A variable that other code changes twice.
Reference<AsyncVar<bool>> flag(Inputs& in, bool value) {
    auto variable = makeReference<AsyncVar<bool>>(value);
    in.onStep([variable] { variable->set(!variable->get()); });
    return variable;
}
auto doubled(Inputs& in) {
    return [s = in.sentinel()](int n) { return 2 * n; };
}

struct Ordered {
    int number;
    int compare(Ordered const& other) const { return number - other.number; }
};
FutureStream<Ordered> ordered(Inputs& in) {
    PromiseStream<Ordered> numbers = output<Ordered>(in);
    in.onStep([numbers] { numbers.send({1}); });
    in.onStep([numbers] { numbers.sendError(end_of_stream()); });
    return numbers.getFuture();
}

constexpr flow::test::Traits kHandlers{.hasHandlers = true};
/// gcc 12 ends a frame with a closure among its parameters by an exception, and clang without.
#ifdef __clang__
constexpr flow::test::Traits kClosure{};
#else
constexpr flow::test::Traits kClosure = kHandlers;
#endif

/// An object that lives as long as the computation.
template <class T, class Use, class... Args>
AnyFuture with(Use use, Args&&... args) {
    auto object = std::make_shared<T>(std::forward<Args>(args)...);
    return flow::holdWhile(object, use(*object));
}

} // namespace

TEST_CASE("every cancel, compat: streams") {
    // Some throw at the end of their input.
    cancelEverywhere("map", [](Inputs& in) { return map(in.numbers(), doubled(in), output<int>(in)); }, kHandlers);
    cancelEverywhere(
        "filter",
        [](Inputs& in) { return filter(in.numbers(), [s = in.sentinel()](int) { return true; }, output<int>(in)); },
        kHandlers);
    cancelEverywhere(
        "asyncFilter",
        [](Inputs& in) {
            return asyncFilter(in.numbers(), [&in, s = in.sentinel()](int) { return answer(in, 0); }, output<int>(in));
        },
        kHandlers);
    cancelEverywhere("waitAndForward", [](Inputs& in) { return waitAndForward(in.numbers()); });
    cancelEverywhere(
        "mapAsync",
        [](Inputs& in) {
            auto actor = [&in, s = in.sentinel()](int) { return in.number(0); };
            return mapAsync(in.numbers(), actor, output<int>(in));
        },
        kHandlers);
    cancelEverywhere("yieldPromiseStream",
                     [](Inputs& in) { return yieldPromiseStream(in.numbers(), output<int>(in)); });
    cancelEverywhere("timeoutWarning", [](Inputs& in) { return timeoutWarning(in.number(0), 0.3, output<Void>(in)); });
    cancelEverywhere("timeReply", [](Inputs& in) { return timeReply(in.number(0), output<double>(in)); });
    cancelEverywhere("tag", [](Inputs& in) { return tag(in.event(0), 7, output<int>(in)); });
    cancelEverywhere("forwardErrors", [](Inputs& in) { return forwardErrors(in.number(0), output<int>(in)); });
    cancelEverywhere(
        "unorderedMergeStreams",
        [](Inputs& in) { return unorderedMergeStreams(in.numbers(), in.numbers(), output<int>(in)); }, kHandlers);
    cancelEverywhere(
        "orderedMergeStreams",
        [](Inputs& in) { return orderedMergeStreams(ordered(in), ordered(in), output<Ordered>(in)); }, kHandlers);
    cancelEverywhere("makeStream", [](Inputs& in) {
        return makeStream(three(in), in.keep<PromiseStream<int>>(), in.keep<PromiseStream<Error>>());
    });
}

TEST_CASE("every cancel, compat: several futures") {
    cancelEverywhere("waitForAllReadyThenThrow", [](Inputs& in) { return waitForAllReadyThenThrow(three(in)); });
    cancelEverywhere("appendAll", [](Inputs& in) {
        auto vectorOf = [](int n) { return std::vector<int>{n}; };
        return appendAll(std::vector{flow::map(in.number(0), vectorOf), flow::map(in.number(1), vectorOf)});
    });
    cancelEverywhere("smartQuorum", [](Inputs& in) { return smartQuorum(three(in), 1, 0.5); });
    cancelEverywhere("allTrue", [](Inputs& in) { return allTrue(threeAnswers(in)); });
    cancelEverywhere("chooseActor", [](Inputs& in) { return chooseActor(in.number(0), in.number(1)); });
    cancelEverywhere("joinWith", [](Inputs& in) { return joinWith(in.number(0), in.event(1)); });
    cancelEverywhere("waitForFirst", [](Inputs& in) { return waitForFirst(three(in)); });
    cancelEverywhere("waitForMost", [](Inputs& in) {
        std::vector<Future<ErrorOr<Void>>> all{errorOr(in.event(0)), errorOr(in.event(1)), errorOr(in.event(2))};
        return waitForMost(all, 1, timed_out());
    });
    cancelEverywhere("map of a vector", [](Inputs& in) { return getAll(map(three(in), doubled(in))); });
    cancelEverywhere("mapAsync of a vector", [](Inputs& in) {
        return getAll(mapAsync(Numbers{in.number(0)}, [&in, s = in.sentinel()](int) { return in.number(1); }));
    });
    cancelEverywhere("cancelOnly", [](Inputs& in) { return cancelOnly(three(in)); });
    cancelEverywhere("AndFuture", [](Inputs& in) {
        flow::compat::AndFuture all(in.event(0));
        all.add(in.event(1));
        return all.getFuture();
    });
}

TEST_CASE("every cancel, compat: one after the other") {
    cancelEverywhere("runAfter", [](Inputs& in) { return runAfter(in.number(0), in.number(1)); });
    cancelEverywhere("operator>>=", [](Inputs& in) {
        return in.number(0) >>= [&in, s = in.sentinel()](int) { return in.number(1); };
    });
    cancelEverywhere("orYield", [](Inputs& in) { return orYield(in.number(0)); });
    cancelEverywhere("orYield of what is ready",
                     [](Inputs& in) { return flow::holdWhile(in.sentinel(), orYield(Future<int>(1))); });
    cancelEverywhere("detach", [](Inputs& in) { return detach(in.number(0)); });
    cancelEverywhere("delayActionJittered", [](Inputs& in) { return delayActionJittered(in.number(0), 0.5); });
    cancelEverywhere("incrementalBroadcast", [](Inputs& in) {
        return incrementalBroadcast(in.number(0), {promise<int>(in), promise<int>(in)}, 1);
    });
    cancelEverywhere("incrementalBroadcastWithError", [](Inputs& in) {
        return incrementalBroadcastWithError(in.number(0), {promise<int>(in), promise<int>(in)}, 1);
    });
    cancelEverywhere("forwardVector", [](Inputs& in) {
        return forwardVector(flow::map(in.number(0), [](int n) { return std::vector<int>{n}; }), {promise<int>(in)});
    });
}

TEST_CASE("every cancel, compat: time") {
    cancelEverywhere("recurringAsync", [](Inputs& in) {
        auto actor = [&in, s = in.sentinel()] { return in.event(0); };
        return recurringAsync(actor, 0.3, true, 0.1, TaskPriority::DefaultDelay, true);
    });
    cancelEverywhere("timeoutErrorIfCleared",
                     [](Inputs& in) { return timeoutErrorIfCleared(in.number(0), flag(in, true), 0.5); });
    cancelEverywhere("delayAfterCleared", [](Inputs& in) { return delayAfterCleared(flag(in, true), 0.5); });
    cancelEverywhere("lowPriorityDelayAfterCleared",
                     [](Inputs& in) { return lowPriorityDelayAfterCleared(flag(in, false), 0.5); });
    cancelEverywhere("checkUntil", [](Inputs& in) {
        return checkUntil(0.3, [n = 0, s = in.sentinel()]() mutable { return ++n == 2; });
    });
    cancelEverywhere("timeoutChoose", [](Inputs& in) { return timeoutChoose(in.number(0), in.event(1), 7); });
}

TEST_CASE("every cancel, compat: what is traced") {
    flow::TraceMemory events;
    std::set<int> silent{error_code_io_error};
    cancelEverywhere("reportErrorsExcept",
                     [&](Inputs& in) { return reportErrorsExcept(in.number(0), "Cancelled", UID(), &silent); });
    cancelEverywhere("traceAfter", [](Inputs& in) { return traceAfter(in.number(0), "Cancelled", "Key", 1, true); });
    cancelEverywhere(
        "traceAfterCall",
        [](Inputs& in) {
            return traceAfterCall(in.number(0), "Cancelled", "Key", [s = in.sentinel()](int n) { return n; }, true);
        },
        kClosure);
    cancelEverywhere("timeoutWarningCollector", [](Inputs& in) {
        PromiseStream<Void> late = output<Void>(in);
        in.onStep([late] { late.send(Void()); });
        return flow::holdWhile(in.sentinel(), timeoutWarningCollector(late.getFuture(), 0.3, "Cancelled", UID()));
    });
    // The timeout of these is thrown.
    cancelEverywhere("ioTimeoutError", [](Inputs& in) { return ioTimeoutError(in.number(0), 0.5); }, kHandlers);
    cancelEverywhere(
        "ioDegradedOrTimeoutError",
        [](Inputs& in) { return ioDegradedOrTimeoutError(in.number(0), 0.5, flag(in, false), 0.2); }, kHandlers);
}

TEST_CASE("every cancel, compat: values and errors") {
    cancelEverywhere("triggerOnError", [](Inputs& in) { return triggerOnError([s = in.sentinel()] {}, in.event(0)); });
    cancelEverywhere("forward", [](Inputs& in) { return forward(in.number(0), promise<int>(in)); }, {.runsOn = true});
    cancelEverywhere("brokenPromiseToMaybeDelivered",
                     [](Inputs& in) { return brokenPromiseToMaybeDelivered(in.number(0)); });
    cancelEverywhere("require", [](Inputs& in) { return require(found(in, 0), error_code_io_error); });
    cancelEverywhere("storeOrThrow", [](Inputs& in) { return storeOrThrow(in.keep<int>(), found(in, 0), io_error()); });
    cancelEverywhere("ignore", [](Inputs& in) { return coro::ignore(in.number(0)); });
    cancelEverywhere("uncancellable",
                     [](Inputs& in) {
                         Promise<int> result;
                         uncancellable(in.number(0), result);
                         return result.getFuture();
                     },
                     {.runsOn = true});
    for (bool fails : {false, true})
        cancelEverywhere("tagAndForward",
                         [=](Inputs& in) {
                             Promise<int> to;
                             Future<int> result = to.getFuture();
                             if (fails)
                                 tagAndForwardError(&to, io_error(), in.event(0));
                             else
                                 tagAndForward(&to, 7, in.event(0));
                             return result;
                         },
                         {.runsOn = true});
}

TEST_CASE("every cancel, compat: variables and objects") {
    cancelEverywhere("forward to a trigger", [](Inputs& in) {
        return flow::holdWhile(in.sentinel(), forward(flag(in, false), &in.keep<AsyncTrigger>()));
    });
    cancelEverywhere("resetAfter",
                     [](Inputs& in) { return flow::holdWhile(in.sentinel(), resetAfter(flag(in, true), 0.3, false)); });
    cancelEverywhere(
        "delayedAsyncVar",
        [](Inputs& in) {
            return flow::holdWhile(in.sentinel(), delayedAsyncVar(flag(in, true), flag(in, false), 0.3));
        },
        kHandlers);
    cancelEverywhere("anyTrue", [](Inputs& in) {
        return flow::holdWhile(in.sentinel(), anyTrue({flag(in, false), flag(in, true)}, flag(in, false)));
    });
    cancelEverywhere("asyncDeserialize", [](Inputs& in) {
        auto bytes = makeReference<AsyncVar<Standalone<StringRef>>>();
        auto value = makeReference<AsyncVar<Optional<int>>>();
        return flow::holdWhile(in.sentinel(), asyncDeserialize(bytes, value));
    });
    cancelEverywhere(
        "IAsyncListener",
        [](Inputs& in) {
            auto listener =
                IAsyncListener<int>::create(flag(in, false), [s = in.sentinel()](bool on) { return int(on); });
            return flow::holdWhile(listener, listener->onChange());
        },
        kClosure);
    cancelEverywhere("Debouncer", [](Inputs& in) {
        return with<Debouncer>(
            [&](Debouncer& debouncer) {
                debouncer.trigger();
                return flow::holdWhile(in.sentinel(), debouncer.onTrigger());
            },
            0.3);
    });
    cancelEverywhere(
        "WorkerCache",
        [](Inputs& in) {
            auto& cache = in.keep<WorkerCache<int>>();
            UID id = deterministicRandom()->randomUniqueID();
            cache.set(id, Never());
            return cache.removeOnReady(id, in.event(0));
        },
        kHandlers);
    cancelEverywhere("UnsafeWeakFutureReference", [](Inputs& in) {
        struct Object : ReferenceCounted<Object> {};
        auto make = [](int) { return makeReference<Object>(); };
        return with<UnsafeWeakFutureReference<Object>>([](auto& weak) { return weak.get(); },
                                                       flow::map(in.number(0), make));
    });
    cancelEverywhere("Notified", [](Inputs& in) {
        auto& version = in.keep<NotifiedInt>(1);
        in.onStep([&version] { version.set(version.get() + 1); });
        return flow::holdWhile(in.sentinel(), version.whenAtLeast(2));
    });
    cancelEverywhere(
        "BoundedFlowLock",
        [](Inputs& in) {
            auto& lock = in.keep<BoundedFlowLock>();
            auto first = std::make_shared<BoundedFlowLock::Releaser>(&lock, lock.take().get());
            in.onStep([first] { first->release(); });
            return flow::holdWhile(in.sentinel(), lock.take());
        },
        kHandlers);
}

TEST_CASE("cancel, compat: no variable is set, no event is written, and no code behind a wait runs") {
    flow::SimLoop simulated;
    flow::TraceMemory events;
    Promise<Void> condition;
    auto variable = makeReference<AsyncVar<int>>(1);
    int calls = 0;
    for (bool drops : {false, true}) {
        auto end = [drops](auto future) { drops ? (void)(future = {}) : future.cancel(); };
        end(setWhenDoneOrError(condition.getFuture(), variable, 2));
        end(triggerOnError([&] { ++calls; }, condition.getFuture()));
        end(traceAfterCall(condition.getFuture(), "Event", "Key", [](Void) { return 1; }, true));
        end(reportErrorsExcept(condition.getFuture(), "Event", UID(), nullptr));
        Promise<int> value;
        end(incrementalBroadcastWithError(Future<int>(Never()), {value}, 1));
        CHECK(value.canBeSet());
        PromiseStream<int> merged;
        end(unorderedMergeStreams(PromiseStream<int>().getFuture(), FutureStream<int>(merged.getFuture()), merged));
    }
    CHECK(variable->get() == 1);
    CHECK(calls == 0);
    CHECK(events.lines().empty());
    CHECK(condition.getFutureReferenceCount() == 0);
}

namespace {

Future<Void> goesOnAfter(Future<Void> what, bool ignores, bool& hasGoneOn) {
    if (ignores)
        co_await coro::ignore(what);
    else
        (void)co_await coro::errorOr(what);
    hasGoneOn = true;
}

} // namespace

TEST_CASE("cancel, compat: coro::errorOr and coro::ignore throw the cancel; ignore throws an error, too") {
    bool hasGoneOn = false;
    for (bool ignores : {false, true}) {
        Promise<Void> what;
        Future<Void> waiting = goesOnAfter(what.getFuture(), ignores, hasGoneOn);
        waiting.cancel();
        CHECK(waiting.getError() == actor_cancelled());
        CHECK_FALSE(hasGoneOn);
    }
    CHECK(goesOnAfter(io_error(), true, hasGoneOn).getError() == io_error());
    CHECK_FALSE(hasGoneOn);
    CHECK(goesOnAfter(io_error(), false, hasGoneOn).canGet());
    CHECK(hasGoneOn);
}
