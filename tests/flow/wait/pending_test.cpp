#include "flow/sim/sim_loop.h"
#include "flow/wait/detail/pending.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>
#include <memory>
#include <string>

using namespace flow;
using namespace flow::detail;

TEST_CASE("pending: a future that is an lvalue is shared, a temporary is moved") {
    test::Balance balance;
    Future<int> future = 7;
    Pending shared = pending<int>(future);
    CHECK(future.isValid());
    CHECK(future.cell()->futures == 2);
    CHECK(shared.isReady());
    CHECK_FALSE(shared.failed());
    shared.drop();

    Pending taken = pending<int>(std::move(future));
    CHECK_FALSE(future.isValid());
    CHECK(taken.takeValue<int>() == 7);
}

TEST_CASE("pending: an unused value is released, an error is kept") {
    test::Balance balance;
    CHECK(pending<Void>(Future<Void>(Void())).passed());
    Pending failed = pending<Void>(Future<Void>(timed_out()));
    CHECK_FALSE(failed.passed());
    CHECK(failed.takeError().code() == error_code_timed_out);
    CHECK(Pending().passed()); // a delay that is over
}

TEST_CASE("pending: a result keeps the value alive without copying it") {
    test::Balance balance;
    Future<std::unique_ptr<int>> future = std::make_unique<int>(3);
    int* address = future.get().get();
    {
        Result<std::unique_ptr<int>> result =
            pending<std::unique_ptr<int>>(std::move(future)).take<std::unique_ptr<int>>();
        CHECK(result.get().get() == address);
    }
}

TEST_CASE("pending: a value is moved out only if nothing else holds it") {
    Future<std::string> future = std::string(100, 'x');
    CHECK(pending<std::string>(future).takeValue<std::string>().size() == 100);
    CHECK(future.get().size() == 100);
    CHECK(pending<std::string>(std::move(future)).takeValue<std::string>().size() == 100);
}

TEST_CASE("pending: an error is taken with its reference") {
    test::Balance balance;
    Pending wait = pending<int>(Future<int>(timed_out()));
    CHECK(wait.isReady());
    CHECK(wait.failed());
    CHECK(wait.takeError().code() == error_code_timed_out);
}

TEST_CASE("pending: Never and what is unset are not ready; parking waits for them") {
    test::Balance balance;
    Promise<int> promise;
    Pending wait = pending<int>(promise.getFuture());
    CHECK_FALSE(wait.isReady());
    Waiter waiter{};
    waiter.resume = [](Waiter*) {};
    wait.park(&waiter);
    promise.send(5);
    CHECK_FALSE(waiter.link.isLinked());
    CHECK(Pending::resumed(&waiter).takeValue<int>() == 5);
    CHECK(waiter.awaited.isNothing());

    Pending never = pending<Void>(Never());
    CHECK_FALSE(never.isReady());
    never.drop();
}

TEST_CASE("pending: delays and yields") {
    SimLoop loop;
    CHECK(pending<Void>(delay(1.0)).isDelay());
    CHECK_FALSE(pending<Void>(delay(0)).isReady());
    Pending nothingToDo = pending<Void>(yield());
    CHECK(nothingToDo.isReady());
    CHECK_FALSE(nothingToDo.failed());
    nothingToDo.drop();
    pending<Void>(delay(1)).drop();
}

TEST_CASE("pending: the next element of a stream stays there until it is taken") {
    test::Balance balance;
    PromiseStream<int> stream;
    FutureStream<int> reader = stream.getFuture();
    stream.send(1);
    stream.send(2);
    Pending lost = pendingNext<int>(reader);
    CHECK(lost.isReady());
    lost.drop();
    CHECK(pendingNext<int>(reader).takeNext<int>() == 1);
    CHECK(pendingNext<int>(reader).takeNext<int>() == 2);
    stream.sendError(end_of_stream());
    Pending end = pendingNext<int>(reader);
    CHECK(end.failed());
    CHECK(end.takeError().code() == error_code_end_of_stream);
}

TEST_CASE("pending: what a cancelled actor's wait finds") {
    test::Balance balance;
    SimLoop sim;
    Promise<int> promise;
    for (Pending wait : {pending<int>(promise.getFuture()), pending<Void>(delay(1)), Pending()}) {
        wait.cancel(nullptr);
        CHECK(wait.isReady());
        CHECK(wait.failed());
        CHECK(wait.takeError().code() == error_code_actor_cancelled);
    }
    CHECK(promise.getFutureReferenceCount() == 0);
}
