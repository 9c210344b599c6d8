// A failed assertion of the library names the line of the program's call.

#include "flow/combine/errors.h"
#include "flow/combine/forward.h"
#include "flow/combine/lifetime.h"
#include "flow/combine/map.h"
#include "flow/combine/race.h"
#include "flow/combine/retry.h"
#include "flow/combine/timeout.h"
#include "flow/compat/async_trigger.h"
#include "flow/compat/collection.h"
#include "flow/compat/flow_lock.h"
#include "flow/compat/flow_mutex.h"
#include "flow/compat/stop_after.h"
#include "flow/compat/wait_for_all.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/sync/async_var.h"
#include "flow/wait/delay.h"
#include "flow/wait/yielded.h"

#include "flow/compat/outcome.h"
#include "flow/core/callback.h"
#include "flow/core/error_or.h"
#include "flow/sim/schedule_explorer.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/death.h"

#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace flow;

[[gnu::noinline]] int dereferencesNothing() {
    Optional<int> nothing;
    return *nothing;
}
constexpr int kDereference = __LINE__ - 2;

/// Two that fail alike, in one function.
[[gnu::noinline]] int dereferencesTwo(Optional<int> const& first, Optional<int> const& second) {
    int sum = *first;
    sum += 7 * *second;
    return sum;
}
constexpr int kSecond = __LINE__ - 3;

#ifdef __clang__
[[clang::optnone]] // so that the constructor is not inlined: its symbol contains a constraint
#endif
[[gnu::noinline]] void
holdsNoError() {
    (void)ErrorOr<int>(Error());
}

// caller_actors.actor.cpp
Future<int> waitsForNothing(Future<int> const& nothing);
Future<int> choosesNothing(Future<int> const& nothing);

namespace {

struct Ignored : Callback<int> {
    void fire(int const&) override {}
    void error(Error) override {}
};
struct IgnoredNext : SingleCallback<int> {
    void fire(int const&) override {}
    void fire(int&&) override {}
    void error(Error) override {}
};

Future<int> awaitsNothing(Future<int> nothing);
Future<int> awaitsMoved(Future<int> nothing);
Future<Void> awaitsBoth(Future<int> nothing);
Future<Void> awaitsFirst(Future<int> nothing);
Future<Void> awaitsOrders();

} // namespace

TEST_CASE("caller: of a Future and a Promise") {
    Future<int> nothing;
    Promise<int> promise;
    Promise<int> moved;
    Promise<int> taken = std::move(moved);
    Future<int> future = promise.getFuture();
    Ignored callback;
    CHECK_NAMES_CALLER((void)nothing.isReady());
    CHECK_NAMES_CALLER((void)nothing.isError());
    CHECK_NAMES_CALLER((void)nothing.canGet());
    CHECK_NAMES_CALLER((void)nothing.get());
    CHECK_NAMES_CALLER((void)nothing.getFutureReferenceCount());
    CHECK_NAMES_CALLER((void)nothing.getPromiseReferenceCount());
    CHECK_NAMES_CALLER((void)future.get());
    CHECK_NAMES_CALLER((void)std::move(future).takeValue());
    CHECK_NAMES_CALLER((void)future.getError());
    CHECK_NAMES_CALLER(Future<int>(1).addCallbackAndClear(&callback));
    CHECK_NAMES_CALLER((void)moved.getFuture());
    CHECK_NAMES_CALLER((void)moved.isSet());
    CHECK_NAMES_CALLER((void)moved.canBeSet());
    CHECK_NAMES_CALLER(moved.send(1));
    CHECK_NAMES_CALLER(promise.sendError(Error()));
    promise.send(1);
    CHECK_NAMES_CALLER(promise.send(2));
    CHECK_NAMES_CALLER(promise.sendError(timed_out()));
    CHECK_NAMES_CALLER(promise.send(Never()));
}

TEST_CASE("caller: of streams") {
    FutureStream<int> nothing;
    PromiseStream<int> stream;
    PromiseStream<int> moved;
    PromiseStream<int> taken = std::move(moved);
    IgnoredNext callback;
    CHECK_NAMES_CALLER((void)nothing.isReady());
    CHECK_NAMES_CALLER((void)nothing.isError());
    CHECK_NAMES_CALLER((void)stream.getFuture().getError());
    CHECK_NAMES_CALLER((void)stream.getFuture().pop());
    CHECK_NAMES_CALLER(nothing.addCallbackAndClear(&callback));
    CHECK_NAMES_CALLER((void)moved.getFuture());
    CHECK_NAMES_CALLER(moved.send(1));
    CHECK_NAMES_CALLER(moved.sendError(timed_out()));
    CHECK_NAMES_CALLER(stream.sendError(Error()));
    CHECK_NAMES_CALLER((void)moved.isEmpty());
    CHECK_NAMES_CALLER((void)moved.onEmpty());
}

TEST_CASE("caller: of an Optional, an ErrorOr and a generator of random numbers") {
    Optional<int> nothing;
    CHECK_NAMES_CALLER((void)nothing.get());
    CHECK_NAMES_CALLER((void)ErrorOr<int>(1).getError());
    DeterministicRandom random(1);
    CHECK_NAMES_CALLER((void)random.randomInt(3, 3));
    CHECK_NAMES_CALLER((void)random.randomInt64(3, 3));
}

TEST_CASE("caller: of an operator it is read from the debug information") {
    test::Death death = test::runInChild([] {
        setAssertionHandler([](char const*, char const* file, int line, char const*) {
            std::fprintf(stderr, "handled at %s:%d\n", file, line);
        });
        dereferencesNothing();
    });
    bool isInstalled = std::system("command -v addr2line >/dev/null") == 0;
    CHECK_MESSAGE(death.says("called by dereferencesNothing() "), death.text);
    std::string place = "caller_test.cpp:" + std::to_string(kDereference) + "\n";
    CHECK_MESSAGE(death.says(isInstalled ? place.c_str() : "(addr2line -Cfie '/"), death.text);
    if (isInstalled) {
        CHECK_MESSAGE(death.says(("handled at " __FILE__ ":" + std::to_string(kDereference) + "\n").c_str()),
                      death.text);
        CHECK_MESSAGE(!death.says("/flow/base/optional.h"), death.text);
        CHECK_MESSAGE(!death.says("checked at"), death.text);
    }
}

TEST_CASE("caller: two that fail alike have a line each") {
    if (std::system("command -v addr2line >/dev/null") != 0)
        return;
    Optional<int> nothing;
    test::Death first = test::runInChild([&] { dereferencesTwo(nothing, 1); });
    test::Death second = test::runInChild([&] { dereferencesTwo(1, nothing); });
    CHECK_MESSAGE(first.says(("caller_test.cpp:" + std::to_string(kSecond - 1) + "\n").c_str()), first.text);
    CHECK_MESSAGE(second.says(("caller_test.cpp:" + std::to_string(kSecond) + "\n").c_str()), second.text);
}

TEST_CASE("caller: a constructor with a constraint is one of the library") {
    test::Death death = test::runInChild([] { holdsNoError(); });
    CHECK_MESSAGE(death.says("called by holdsNoError() "), death.text);
}

TEST_CASE("caller: of an operator there is a command for it where nothing finds it") {
    test::Death death = test::runInChild([] {
        ::setenv("PATH", "/nowhere", 1);
        dereferencesNothing();
    });
    CHECK_MESSAGE(death.says("called by dereferencesNothing() (addr2line -Cfie '/"), death.text);
    CHECK_MESSAGE(death.says("\nflow:   checked at "), death.text);
    CHECK_MESSAGE(death.says("/flow/base/optional.h:"), death.text);
}

TEST_CASE("caller: of a wait") {
    auto dies = [](auto wait, char const* place) {
        test::Death death = test::runInChild([&] { (void)wait(Future<int>()); });
        CHECK(death.aborted());
        CHECK_MESSAGE(death.says(place), death.text);
    };
    dies(waitsForNothing, "caller_actors.actor.cpp:9\n");
    dies(choosesNothing, "caller_actors.actor.cpp:13\n");
    dies(awaitsNothing, "] at awaits.cpp:1\n");
    dies(awaitsMoved, "] at awaits_moved.cpp:1\n");
}

TEST_CASE("caller: of waits for several, locks and collections") {
    std::vector<Future<Void>> invalid(2);
    std::vector<Future<Void>> none;
    FlowLock lock(1);
    ActorCollection collection;
    CHECK_NAMES_CALLER((void)waitForAll(invalid));
    CHECK_NAMES_CALLER((void)waitForAllReady(invalid));
    CHECK_NAMES_CALLER((void)waitForAny(invalid));
    CHECK_NAMES_CALLER((void)quorum(invalid, 1));
    CHECK_NAMES_CALLER((void)quorum(none, 1));
    CHECK_NAMES_CALLER((void)success(invalid[0]));
    CHECK_NAMES_CALLER((void)(invalid[0] && delay(1)));
    CHECK_NAMES_CALLER((void)(Void() || invalid[0]));
    CHECK_NAMES_CALLER((void)yieldedFuture(invalid[0]));
    CHECK_NAMES_CALLER((void)lock.take(TaskPriority::DefaultYield, -1));
    CHECK_NAMES_CALLER(lock.release());
    CHECK_NAMES_CALLER(collection.add(invalid[0]));
}

TEST_CASE("caller: of functions of flow/combine that wait for a future") {
    SimLoop loop;
    Future<int> nothing;
    Future<Void> never;
    std::vector<Future<int>> invalid(2);
    std::vector<Future<bool>> answers(2);
    Reference<AsyncVar<int>> variable(new AsyncVar<int>(0));
    int out;
    CHECK_NAMES_CALLER((void)getAll(invalid));
    CHECK_NAMES_CALLER((void)all(invalid));
    CHECK_NAMES_CALLER((void)some(1, invalid));
    CHECK_NAMES_CALLER((void)race(invalid));
    CHECK_NAMES_CALLER((void)timeout(FutureStream<int>(), 1.0));
    CHECK_NAMES_CALLER((void)timeout(nothing, 1.0, -1));
    CHECK_NAMES_CALLER((void)timeout(nothing, 1.0));
    CHECK_NAMES_CALLER((void)timeoutError(nothing, 1.0));
    CHECK_NAMES_CALLER((void)delayed(nothing, 1.0));
    CHECK_NAMES_CALLER((void)map(nothing, [](int n) { return n; }));
    CHECK_NAMES_CALLER((void)mapAsync(nothing, [](int n) { return Future<int>(n); }));
    CHECK_NAMES_CALLER((void)store(out, nothing));
    CHECK_NAMES_CALLER((void)holdWhile(1, nothing));
    CHECK_NAMES_CALLER((void)holdWhileVoid(1, nothing));
    CHECK_NAMES_CALLER((void)uncancellable(nothing));
    CHECK_NAMES_CALLER((void)cancellable(nothing));
    CHECK_NAMES_CALLER((void)trigger([] {}, never));
    CHECK_NAMES_CALLER((void)errorOr(nothing));
    CHECK_NAMES_CALLER((void)brokenPromiseToNever(nothing));
    CHECK_NAMES_CALLER((void)reportErrors(nothing, "Work"));
    CHECK_NAMES_CALLER((void)waitOrError(nothing, Future<Void>(Never())));
    CHECK_NAMES_CALLER((void)waitOrError(Future<int>(1), never));
    CHECK_NAMES_CALLER((void)ready(nothing));
    CHECK_NAMES_CALLER((void)tag(never, 1));
    CHECK_NAMES_CALLER((void)tagError<int>(never, io_error()));
    CHECK_NAMES_CALLER((void)onEqual(nothing, 1));
    CHECK_NAMES_CALLER((void)returnIfTrue(answers[0]));
    CHECK_NAMES_CALLER((void)quorumEqualsTrue(answers, 1));
    CHECK_NAMES_CALLER((void)shortCircuitAny(answers));
    CHECK_NAMES_CALLER((void)transformErrors(nothing, io_error()));
    CHECK_NAMES_CALLER((void)transformError(nothing, timed_out(), io_error()));
    CHECK_NAMES_CALLER((void)throwErrorOr(Future<ErrorOr<int>>()));
    CHECK_NAMES_CALLER((void)fmap([](int n) { return n; }, nothing));
    CHECK_NAMES_CALLER((void)setWhenDoneOrError(never, variable, 1));
    CHECK_NAMES_CALLER((void)broadcast(nothing, std::vector<Promise<int>>()));
    CHECK_NAMES_CALLER((void)stopAfter(nothing));
    CHECK_NAMES_CALLER(forwardPromise(Promise<int>(), nothing));
    CHECK_NAMES_CALLER(forwardPromise(PromiseStream<int>(), nothing));
}

TEST_CASE("caller: of retry() and of a FlowMutex") {
    SimLoop simulated;
    FlowMutex mutex;
    FlowMutex moved = std::move(mutex);
    CHECK_NAMES_CALLER((void)mutex.take());
    CHECK_NAMES_CALLER((void)mutex.available());
    CHECK_NAMES_CALLER((void)mutex.waiters());
    CHECK_NAMES_CALLER((void)retry({.jitter = 2}, [] { return Future<Void>(Void()); }));
    CHECK_NAMES_CALLER(simulated.run(
        retry({}, [] { return Loop::current().now() == 0 ? Future<Void>(io_error()) : Future<Void>(); })));
}

TEST_CASE("caller: in a coroutine") {
    auto names = [](auto misuse, char const* place) {
        test::Death death = test::runInChild([&] { (void)misuse(); });
        CHECK(death.aborted());
        CHECK_MESSAGE(death.says(place), death.text);
    };
    names([] { return awaitsBoth(Future<int>()); }, "] at both.cpp:2\n");
    names([] { return awaitsFirst(Future<int>()); }, "] at first.cpp:2\n");
    // By the debug information. That of gcc has the line of the closing brace for a call in such a statement.
    if (std::system("command -v addr2line >/dev/null") == 0)
        names(awaitsOrders, "orders.cpp:3\n");
}

// Behind what needs the lines of this file.
namespace {

Future<int> awaitsNothing(Future<int> nothing) {
#line 1 "awaits.cpp"
    co_return co_await nothing;
}
Future<int> awaitsMoved(Future<int> nothing) {
#line 1 "awaits_moved.cpp"
    co_return co_await std::move(nothing);
}
#line 1 "both.cpp"
Future<Void> awaitsBoth(Future<int> nothing) {
    co_await (nothing && nothing);
}
#line 1 "first.cpp"
Future<Void> awaitsFirst(Future<int> nothing) {
    (void)co_await race(Future<Void>(Never()), nothing);
}
#line 1 "orders.cpp"
Future<Void> awaitsOrders() {
    co_await Future<Void>(Void());
    co_await delay(double(exploreSchedules([] { return Future<Void>(Void()); }, 0).count));
    co_await delay(1);
}

} // namespace
