#include "flow/trace/request_value.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/tasks/task.h"
#include "flow/trace/trace_event.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/plain_event.h"

#include <doctest/doctest.h>

#include <memory>

using namespace flow;
using namespace flow::test;

/// In tests/flow/trace/request_value_actors.actor.cpp.
Future<std::string> idByActors(RequestContext const& here);

namespace request_value_test {
namespace {

constexpr RequestValue<int> kDepth("Depth");
constexpr RequestValue<std::string> kUser;
constexpr RequestValue<std::unique_ptr<int>> kOwned;

Future<std::string> idByCoroutines(RequestContext here) {
    co_await delay(0.1);
    co_return *here.find(kRequestId);
}
Task<std::string> idByTask(ContextWith<RequestContext>) {
    auto here = co_await context();
    co_await delay(0.1);
    co_return *here->find(kRequestId);
}
Task<std::string> idByTasks(ContextWith<RequestContext>) {
    auto here = co_await context();
    Task<std::string> below = idByTask(here);
    co_return co_await std::move(below);
}

} // namespace

TEST_CASE("request value: a context has the newest value of each key") {
    Balance balance;
    RequestContext none;
    CHECK(none.isEmpty());
    CHECK(none.find(kDepth) == nullptr);
    RequestContext one = none.with(kDepth, 1), two = one.with(kUser, "Ann").with(kDepth, 2);
    CHECK(none.isEmpty());
    CHECK(*one.find(kDepth) == 1);
    CHECK(one.find(kUser) == nullptr);
    CHECK(*two.find(kDepth) == 2);
    CHECK(*two.find(kUser) == "Ann");
    one = RequestContext();
    CHECK(*two.find(kUser) == "Ann");
    CHECK(**two.with(kOwned, std::make_unique<int>(7)).find(kOwned) == 7);
}

TEST_CASE("request value: a value that throws leaves the context as it was") {
    Balance balance;
    RequestContext one = RequestContext().with(kDepth, 1);
    CHECK_THROWS_AS((void)one.withMade(kUser, []() -> std::string { throw operation_failed(); }), Error);
    CHECK(*one.find(kDepth) == 1);
}

TEST_CASE("request value: a context with very many values ends without recursion") {
    Balance balance;
    RequestContext here;
    for (int i = 0; i < 500'000; ++i)
        here = here.with(kDepth, i);
    CHECK(*here.find(kDepth) == 499'999);
}

TEST_CASE("request value: events have the named values, each name once") {
    Balance balance;
    RequestContext here = RequestContext().with(kDepth, 1).with(kUser, "Ann").with(kRequestId, "a81").with(kDepth, 2);
    TraceEvent("NoSink").request(here);
    TraceMemory trace;
    TraceEvent("Asked").request(here).detail("Number", 7);
    TraceEvent("Asked").request(RequestContext());
    REQUIRE(trace.lines().size() == 2);
    CHECK(plainEvent(trace.lines()[0]) == R"({"Severity":10,"Type":"Asked","Depth":"2","Request":"a81","Number":7})");
    CHECK(plainEvent(trace.lines()[1]) == R"({"Severity":10,"Type":"Asked"})");
}

TEST_CASE("request value: each of several requests has its own, in coroutines, actors and tasks") {
    Balance balance;
    SimLoop loop;
    auto body = []() -> Future<Void> {
        RequestContext first = RequestContext().with(kRequestId, "first");
        RequestContext second = RequestContext().with(kRequestId, "second");
        for (bool byActors : {false, true}) {
            auto ask = [byActors](RequestContext const& here) {
                return byActors ? idByActors(here) : idByCoroutines(here);
            };
            Future<std::string> one = ask(first), other = ask(second);
            CHECK(co_await std::move(one) == "first");
            CHECK(co_await std::move(other) == "second");
        }
        Environment environment;
        Future<std::string> one = start(idByTasks(environment.with(first)));
        Future<std::string> other = start(idByTasks(environment.with(second)));
        CHECK(co_await std::move(one) == "first");
        CHECK(co_await std::move(other) == "second");
    };
    loop.run(body());
}

TEST_CASE("request value: a cancelled request releases its values") {
    cancelEverywhere("request value",
                     [](Inputs& in) {
                         static constexpr RequestValue<std::shared_ptr<Sentinel>> kSentinel;
                         auto wait = [](RequestContext here, Future<int> input) -> Future<int> {
                             int value = co_await std::move(input);
                             CHECK(here.find(kSentinel));
                             co_return value;
                         };
                         return wait(RequestContext().with(kSentinel, std::make_shared<Sentinel>(in.sentinel())),
                                     in.number(0));
                     },
                     {.hasHandlers = true});
}

} // namespace request_value_test
