// The origin of an error that the library makes names the line of the caller first.
#include "flow/base/error.h"

#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/file/async_file.h"
#include "flow/loop/real_loop.h"
#include "flow/sync/channel.h"
#include "tests/flow/inspect/pending_actors.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <thread>

using namespace flow;

namespace {

/// Runs a function while origins are recorded.
template <class Run>
std::string originOfRun(Run run) {
    bool before = Error::recordOrigins(true);
    std::string origin;
    try {
        run();
    } catch (Error const& error) {
        origin = error.origin();
    }
    Error::recordOrigins(before);
    return origin;
}

std::string placeHere(int line) {
    return "error_place_test.cpp:" + std::to_string(line);
}

/// True if the text has `title`. In checked builds a coroutine has the line of its wait, too.
bool namesPlace(std::string const& text, std::string const& title, int line) {
    return text.find(title + " at " + placeHere(line)) != std::string::npos;
}

Future<Void> placeOfTimeout() {
    Future<Void> never = Never();
    co_await timeoutError(never, 0.001);
}
constexpr int kPlaceOfTimeout = __LINE__ - 2;

Future<Void> placeOfOtherTimeout() {
    Future<Void> never = Never();
    co_await timeoutError(never, 0.001);
}
constexpr int kPlaceOfOtherTimeout = __LINE__ - 2;

Future<Void> placeOfThrow() {
    co_await delay(0.001);
    throw io_error();
}
constexpr int kPlaceOfThrow = __LINE__ - 2;

Future<Void> placeOfReceive(Channel<int>* channel) {
    (void)co_await channel->receive();
}
constexpr int kPlaceOfReceive = __LINE__ - 2;

Future<Void> placeOfOpen() {
    (void)co_await files().open("/dev/null/x", OpenMode::Read);
}
constexpr int kPlaceOfOpen = __LINE__ - 2;

Future<Void> placeOfException() {
    co_await delay(0.001);
    throw std::runtime_error("disk on fire");
}
constexpr int kPlaceOfException = __LINE__ - 3;

Future<Void> placeOfOtherException() {
    co_await delay(0.001);
    throw std::runtime_error("disk on fire");
}
constexpr int kPlaceOfOtherException = __LINE__ - 3;

Future<Void> placeOfAwait(Future<Void> failing) {
    co_await failing;
}

Future<Void> catches(Future<Void> failing) {
    try {
        co_await failing;
    } catch (std::exception const&) {
    }
}

Future<Void> caller() {
    co_await placeOfOpen();
}

} // namespace

TEST_CASE("error place: of timeoutError it is the line of its caller, which is not that of another caller") {
    RealLoop loop;
    std::string origin = originOfRun([&] { loop.run(placeOfTimeout()); });
    CHECK_MESSAGE(origin.starts_with(placeHere(kPlaceOfTimeout) + ", by timeout.h:"), origin);
    CHECK_MESSAGE(origin.find(" of the library\n  awaited by coroutine placeOfTimeout at ") != origin.npos, origin);
    origin = originOfRun([&] { loop.run(placeOfOtherTimeout()); });
    CHECK_MESSAGE(origin.starts_with(placeHere(kPlaceOfOtherTimeout) + ", by timeout.h:"), origin);
    origin = originOfRun([&] { loop.run(pendingTimesOut()); });
    CHECK_MESSAGE(origin.starts_with("pending_actors.actor.cpp:32, by timeout.h:"), origin);
}

TEST_CASE("error place: of a throw it is the line of the throw") {
    RealLoop loop;
    std::string origin = originOfRun([&] { loop.run(placeOfThrow()); });
    CHECK_MESSAGE(origin.starts_with(placeHere(kPlaceOfThrow) + "\n"), origin);
    origin = originOfRun([&] { loop.run(pendingThrows()); });
    CHECK_MESSAGE(origin.starts_with("pending_actors.actor.cpp:38\n"), origin);
}

TEST_CASE("error place: a loop without work names the caller of run()") {
    RealLoop loop;
    int line = __LINE__ + 1;
    std::string origin = originOfRun([&] { loop.run(Future<Void>(Never())); });
    CHECK_MESSAGE(origin.starts_with(placeHere(line)), origin);
}

TEST_CASE("error place: an operation in place has the line of the wait in its chain") {
    RealLoop loop;
    Channel<int> channel(1);
    Future<Void> receiving = placeOfReceive(&channel);
    std::string origin = originOfRun([&] {
        channel.close();
        loop.run(std::move(receiving));
    });
    CHECK_MESSAGE(namesPlace(origin, "coroutine placeOfReceive", kPlaceOfReceive), origin);
}

TEST_CASE("error place: the error of another thread has the chain of those that wait for it") {
    RealLoop loop;
    std::string origin = originOfRun([&] { loop.run(caller()); });
    CHECK_MESSAGE(origin.starts_with(placeHere(kPlaceOfOpen) + ", by "), origin);
    CHECK_MESSAGE(namesPlace(origin, "coroutine placeOfOpen", kPlaceOfOpen), origin);
    CHECK_MESSAGE(origin.find("awaited by coroutine caller") != origin.npos, origin);
}

namespace {

/// Calls `run` on a thread of a child process. Nothing there catches an exception.
test::Death uncaught(auto run) {
    return test::runInChild([&] {
        std::thread([&] {
            Error::recordOrigins(true);
            RealLoop loop;
            run(loop);
        }).join();
    });
}

} // namespace

TEST_CASE("error place: of an exception that is no Error it is the computation that has thrown it") {
    test::Death death = uncaught([](RealLoop& loop) { loop.run(placeOfAwait(placeOfException())); });
    CHECK(death.aborted());
    CHECK_MESSAGE(death.says(("flow: uncaught exception std::runtime_error: disk on fire\n  raised at " +
                              placeHere(kPlaceOfException) + ", by error")
                                 .c_str()),
                  death.text);
    CHECK_MESSAGE(namesPlace(death.text, "  coroutine placeOfException", kPlaceOfException), death.text);
    CHECK_MESSAGE(death.says("    awaited by coroutine placeOfAwait at "), death.text);
    death = uncaught([](RealLoop& loop) { loop.run(pendingThrowsException()); });
    CHECK_MESSAGE(death.says("disk on fire\n  raised at pending_actors.actor.cpp:42, by error"), death.text);
}

TEST_CASE("error place: two exceptions with the same text have two places") {
    test::Death death = uncaught([](RealLoop& loop) {
        loop.run(catches(placeOfException()));
        loop.run(placeOfOtherException());
    });
    std::string raised = "disk on fire\n  raised at " + placeHere(kPlaceOfOtherException);
    CHECK_MESSAGE(death.says(raised.c_str()), death.text);
}

TEST_CASE("error place: an exception that no future has had is not given the place of an earlier one") {
    test::Death death = uncaught([](RealLoop& loop) {
        loop.run(catches(placeOfException()));
        throw std::runtime_error("disk on fire");
    });
    CHECK(death.aborted());
    CHECK_MESSAGE(!death.says("raised at"), death.text);
    CHECK_MESSAGE(death.says("disk on fire"), death.text);
}

TEST_CASE("error place: currentError() after a wait is the error of the future, and the exception stays") {
    RealLoop loop;
    bool before = Error::recordOrigins(true);
    try {
        loop.run(placeOfAwait(placeOfAwait(placeOfException())));
        FAIL("no exception");
    } catch (std::runtime_error const& exception) {
        CHECK(exception.what() == std::string("disk on fire"));
        std::string origin = currentError().origin();
        CHECK_MESSAGE(origin.starts_with(placeHere(kPlaceOfException)), origin);
    }
    Error::recordOrigins(before);
}
