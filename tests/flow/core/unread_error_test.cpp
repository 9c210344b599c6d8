// Errors in futures that are destroyed before anybody has read them.
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;

namespace {

std::vector<std::string> unread;

struct UnreadErrors {
    DroppedErrorHandler before = setDroppedErrorHandler(
        [](const char* where, Error error) { unread.push_back(std::string(error.name()) + " of " + where); });

    UnreadErrors() {
        forgetUnreadErrors();
        unread.clear();
    }
    ~UnreadErrors() { setDroppedErrorHandler(before); }

    /// How many since the last call.
    std::size_t count() { return std::exchange(unread, {}).size(); }
};

Future<std::vector<int>> failsNamed(Future<Void> until) {
    co_await until;
    throw io_error();
}

Future<int> propagatesNamed(Future<int> from, Propagate = {}) {
    co_return co_await from + 1;
}

Future<Void> reads(Future<int> from) {
    ErrorOr<int> found = co_await tryGet(from);
    CHECK(found.isError());
}

} // namespace

TEST_CASE("unread errors: those of actors are reported once, with the actor's name") {
    UnreadErrors errors;
    (void)failsNamed(Void());
    REQUIRE(unread.size() == 1);
    CHECK_MESSAGE(unread[0] == "io_error of failsNamed", unread[0]);
    CHECK(errors.count() == 1);
    {
        Promise<Void> until;
        Future<std::vector<int>> first = failsNamed(until.getFuture()), same = first;
        until.send(Void());
        first = {};
        CHECK(errors.count() == 0);
    }
    CHECK(errors.count() == 1);
    {
        Promise<int> promise;
        Future<int> last = propagatesNamed(promise.getFuture());
        promise.sendError(timed_out());
    }
    REQUIRE(unread.size() == 1); // of the last of a chain
    CHECK_MESSAGE(unread[0] == "timed_out of propagatesNamed", unread[0]);
}

TEST_CASE("unread errors: those of promises and ready futures are reported, and those of assigned ones") {
    UnreadErrors errors;
    {
        Promise<int> promise;
        Future<int> future = promise.getFuture();
        promise.sendError(timed_out());
        CHECK(errors.count() == 0);
    }
    CHECK(errors.count() == 1);
    Future<std::string> future = timed_out();
    future = std::string("value");
    CHECK(errors.count() == 1);
    Future<Error> error = timed_out(); // a value
    error = Future<Error>::failed(io_error());
    CHECK(errors.count() == 0);
    error = {};
    CHECK(errors.count() == 1);
}

TEST_CASE("unread errors: a wait or getError() reads the error") {
    UnreadErrors errors;
    Future<int> failed = timed_out();
    SUBCASE("isError()") {
        CHECK(failed.isError());
    }
    SUBCASE("getError()") {
        CHECK(failed.getError() == timed_out());
    }
    SUBCASE("get()") {
        CHECK_THROWS_AS((void)failed.get(), Error);
    }
    SUBCASE("a wait") {
        CHECK(reads(failed).isReady());
    }
    SUBCASE("a wait that propagates") {
        CHECK(propagatesNamed(failed).isError());
    }
    SUBCASE("a quorum") {
        CHECK(waitForAll(std::vector{failed, Future<int>(1)}).isError());
    }
    SUBCASE("a wait for one that is not ready") {
        Promise<int> promise;
        failed = promise.getFuture();
        CHECK(errors.count() == 1); // of what was assigned to
        Future<Void> reader = reads(failed);
        promise.sendError(timed_out());
        CHECK(reader.isReady());
    }
    failed = {};
    CHECK(errors.count() == 0);
}

TEST_CASE("unread errors: cancelled, broken and ended ones are not reported, and none if that is switched off") {
    UnreadErrors errors;
    for (Error silent : {actor_cancelled(), broken_promise(), end_of_stream(), operation_obsolete()})
        (void)Future<int>(silent);
    {
        Promise<int> broken;
        (void)broken.getFuture();
        PromiseStream<int> stream;
        FutureStream<int> reader = stream.getFuture();
        stream.sendError(timed_out());
    }
    {
        Promise<Void> never;
        Future<std::vector<int>> future = failsNamed(never.getFuture());
        future.cancel();
    }
    CHECK(errors.count() == 0);
    CHECK(setUnreadErrorReports(false));
    (void)Future<int>(timed_out());
    CHECK(!setUnreadErrorReports(true));
    CHECK(errors.count() == 0);
}

TEST_CASE("unread errors: of each actor the first ten are reported, then the 100th and the 1000th") {
    UnreadErrors errors;
    for (int i = 0; i < 1500; ++i)
        (void)failsNamed(Void());
    REQUIRE(unread.size() == 12);
    CHECK(unread[9].ends_with("failsNamed"));
    CHECK(unread[11].ends_with("failsNamed, 1000 times so far"));
    (void)Future<int>(timed_out()); // of none
    CHECK(errors.count() == 13);
    forgetUnreadErrors();
    (void)failsNamed(Void());
    CHECK(errors.count() == 1);
}
