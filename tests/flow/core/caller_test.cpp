// A failed assertion of the library names the line of the program's call.

#include "flow/flow.h"

#include "flow/core/callback.h"
#include "flow/core/error_or.h"
#include "tests/flow/support/death.h"

#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>

using namespace flow;

[[gnu::noinline]] int dereferencesNothing() {
    Optional<int> nothing;
    return *nothing;
}
constexpr int kDereference = __LINE__ - 2;

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

#ifdef __clang__
constexpr bool kIsClang = true;
#else
constexpr bool kIsClang = false;
#endif

/// The misuse stands on one line.
#define CHECK_NAMES_CALLER(...)                                                                                        \
    do {                                                                                                               \
        test::Death death = test::runInChild([&] { __VA_ARGS__; });                                                    \
        std::string here = "] at " __FILE__ ":" + std::to_string(__LINE__) + "\n";                                     \
        CHECK(death.aborted());                                                                                        \
        CHECK_MESSAGE(death.says(here.c_str()), death.text);                                                           \
    } while (false)

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
    CHECK_NAMES_CALLER((void)lock.take(TaskPriority::DefaultYield, -1));
    CHECK_NAMES_CALLER(lock.release());
    CHECK_NAMES_CALLER(collection.add(invalid[0]));
}

TEST_CASE("caller: of an operator in a coroutine") {
    test::Death death = test::runInChild([] { (void)awaitsBoth(Future<int>()); });
    CHECK(death.aborted());
    if (std::system("command -v addr2line >/dev/null") != 0)
        return;
    CHECK_MESSAGE(death.says("called by "), death.text);
    // gcc 12 has no line of this call.
    bool isNamed = death.says("both.cpp:2\n") || (!kIsClang && death.says("both.cpp:1-3\n"));
    CHECK_MESSAGE(isNamed, death.text);
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

} // namespace
