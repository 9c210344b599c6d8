#include "net/rpc/reply_promise.h"

#include "flow/core/future.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/binary.h"
#include "flow/memory/object.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;

TEST_CASE("reply promise: copies are one promise, and the last one that goes unanswered breaks it") {
    test::Balance balance;
    RealLoop loop;
    ReplyPromise<int> first;
    ReplyPromise<int> second = first;
    Future<int> future = second.getFuture();
    CHECK(!first.isSet());
    CHECK(first.getFutureReferenceCount() == 1);
    first.send(7);
    CHECK(second.isSet());
    CHECK(!second.canBeSet());
    CHECK(future.get() == 7);
    second.reset();
    CHECK(!second.isSet());
    future = second.getFuture();
    second = ReplyPromise<int>();
    CHECK(future.getError().code() == error_code_broken_promise);
    ReplyPromise<int> third;
    forwardPromise(third, Future<int>(8));
    CHECK(third.getFuture().get() == 8);
    ReplyPromise<int> fourth;
    future = fourth.getFuture();
    fourth.sendError(io_error());
    CHECK(future.getError().code() == error_code_io_error);
    ReplyPromise<Void> nothing;
    nothing.send(Void());
    CHECK(nothing.getFuture().isReady());
}

TEST_CASE("reply promise: can be serialized only into a message") {
    ReplyPromise<int> promise;
    BinaryWriter binary((Unversioned()));
    CHECK_THROWS_AS(binary << promise, Error);
    ObjectWriter object((Unversioned()));
    CHECK_THROWS_AS(object.serialize(promise), Error);
}
