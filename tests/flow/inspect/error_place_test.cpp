// The origin of an error that the library makes names the line of the caller where this costs nothing. Elsewhere the
// chain of awaiters has this line.
#include "flow/base/error.h"

#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sync/channel.h"

#include <doctest/doctest.h>

#include <string>

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
    return text.find(FLOW_CHECKED ? title + " at " + placeHere(line) : title) != std::string::npos;
}

Future<Void> placeOfTimeout() {
    Future<Void> never = Never();
    co_await timeoutError(never, 0.001);
}
constexpr int kPlaceOfTimeout = __LINE__ - 2;

Future<Void> placeOfReceive(Channel<int>* channel) {
    (void)co_await channel->receive();
}
constexpr int kPlaceOfReceive = __LINE__ - 2;

} // namespace

TEST_CASE("error place: of timeoutError the chain has the line of its caller") {
    RealLoop loop;
    std::string origin = originOfRun([&] { loop.run(placeOfTimeout()); });
    CHECK_MESSAGE(origin.starts_with("timeout.h:"), origin);
    CHECK_MESSAGE(namesPlace(origin, "awaited by coroutine placeOfTimeout", kPlaceOfTimeout), origin);
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
