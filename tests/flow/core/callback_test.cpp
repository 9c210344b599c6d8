#include "flow/core/callback.h"

#include "flow/coro/coroutine.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

using namespace flow;
using namespace flow::test;

namespace {

/// Logs each call; then `after` runs.
template <class Base, class T>
struct Logging : Base {
    Logging(TraceLog& where, std::string label) : log(where), name(std::move(label)) {}
    void fire(T const& value) override {
        log.say(name + " const& " + std::to_string(value));
        after();
    }
    void fire(T&& value) override {
        log.say(name + " && " + std::to_string(value));
        after();
    }
    void error(Error e) override {
        log.say(name + " " + e.name());
        after();
    }

    TraceLog& log;
    std::string name;
    std::function<void()> after = [] {};
};
using LoggingCallback = Logging<Callback<int>, int>;
using LoggingSingleCallback = Logging<SingleCallback<int>, int>;

Future<Void> follow(TraceLog& log, std::string name, Future<int> future) {
    log.say(name + " " + std::to_string(co_await std::move(future)));
}

} // namespace

TEST_CASE("callback: called with a value and with an error, the newest waiter first") {
    test::Balance balance;
    TraceLog log;
    LoggingCallback a(log, "a"), b(log, "b");
    Promise<int> p;
    Future<int> f = p.getFuture();
    f.addCallbackAndClear(&a);
    CHECK_FALSE(f.isValid());
    Future<Void> actor = follow(log, "actor", p.getFuture());
    p.getFuture().addCallbackAndClear(&b);
    CHECK(p.getFutureReferenceCount() == 1); // no handle, but a waiter
    p.send(7);
    CHECK(log.take() == "b const& 7 actor 7 a const& 7");
    CHECK(p.getFutureReferenceCount() == 0);

    Promise<int> failing;
    failing.getFuture().addCallbackAndClear(&a); // a callback may be used again
    failing.sendError(timed_out());
    CHECK(log.take() == "a timed_out");
    {
        Promise<int> dropped;
        dropped.getFuture().addCallbackAndClear(&a);
    }
    CHECK(log.take() == "a broken_promise");
}

TEST_CASE("callback: remove() and destruction release the future, and so cancel what nothing else holds") {
    test::Balance balance;
    TraceLog log;
    Promise<int> p;
    auto actor = [&](std::string name) -> Future<int> {
        Noisy local(log, name);
        co_return co_await p.getFuture();
    };
    LoggingCallback a(log, "a");
    actor("one").addCallbackAndClear(&a);
    a.remove();
    CHECK(log.take() == "~one");
    a.remove();
    {
        LoggingCallback b(log, "b");
        actor("two").addCallbackAndClear(&b);
    }
    CHECK(log.take() == "~two");
    p.send(1);
    CHECK(log.take() == "");
}

TEST_CASE("callback: may delete itself, wait again or remove others when it is called") {
    test::Balance balance;
    TraceLog log;
    Promise<int> p, q;
    auto* first = new LoggingCallback(log, "first");
    LoggingCallback other(log, "other"), again(log, "again");
    p.getFuture().addCallbackAndClear(&other);
    p.getFuture().addCallbackAndClear(&again);
    p.getFuture().addCallbackAndClear(first);
    first->after = [&] {
        first->remove(); // as users' code does first of all
        other.remove();
        delete first;
    };
    again.after = [&] {
        if (q.canBeSet())
            q.getFuture().addCallbackAndClear(&again);
    };
    p.send(1);
    CHECK(log.take() == "first const& 1 again const& 1");
    q.send(2);
    CHECK(log.take() == "again const& 2");
}

TEST_CASE("callback: of a stream, called with one element as an rvalue, or with the end") {
    test::Balance balance;
    TraceLog log;
    PromiseStream<int> s;
    LoggingSingleCallback a(log, "a");
    FutureStream<int> in = s.getFuture();
    in.addCallbackAndClear(&a);
    CHECK_FALSE(in.isValid());
    s.send(1);
    s.send(2);
    CHECK(log.take() == "a && 1");
    in = s.getFuture();
    CHECK(in.pop() == 2);
    FutureStream<int>(in).addCallbackAndClear(&a);
    a.remove();
    s.send(3);
    CHECK(log.take() == "");
    CHECK(in.pop() == 3);
    in.addCallbackAndClear(&a);
    s.sendError(end_of_stream());
    CHECK(log.take() == "a end_of_stream");
}

TEST_CASE("callback: values that can only be moved arrive by rvalue from a stream") {
    struct Take final : SingleCallback<std::unique_ptr<int>> {
        void fire(std::unique_ptr<int>&& value) override { taken = std::move(value); }
        void fire(std::unique_ptr<int> const&) override { FAIL("by reference"); }
        std::unique_ptr<int> taken;
    } take;
    PromiseStream<std::unique_ptr<int>> s;
    s.getFuture().addCallbackAndClear(&take);
    s.send(std::make_unique<int>(5));
    REQUIRE(take.taken);
    CHECK(*take.taken == 5);
}

TEST_CASE("callback: misuse ends the program") {
    TraceLog log;
    LoggingCallback a(log, "a");
    CHECK_DIES(Future<int>(1).addCallbackAndClear(&a), "on a Future that is ready");
    Promise<int> p;
    CHECK_DIES(p.getFuture().addCallbackAndClear(&a); p.getFuture().addCallbackAndClear(&a), "while it waits");
    PromiseStream<int> s;
    LoggingSingleCallback b(log, "b"), c(log, "c");
    CHECK_DIES(s.getFuture().addCallbackAndClear(&b); s.getFuture().addCallbackAndClear(&c), "two readers wait");
}
