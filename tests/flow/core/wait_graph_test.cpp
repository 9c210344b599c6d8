#include "flow/core/detail/wait_graph.h"

#include "flow/combine/race.h"
#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;

namespace {

Future<int> answers(Future<int> question) {
    co_return co_await question;
}
Future<Void> asks(Future<int> question) {
    (void)co_await race(answers(question), delay(2.5));
}

} // namespace

TEST_CASE("wait graph: names each unfinished actor and what it waits for") {
    SimLoop loop;
    Promise<int> promise;
    LiveBlocks liveBlocks;
    CellGroup group;
    CellGroup* before = liveBlocks.enter(&group);
    Future<Void> running = asks(promise.getFuture());
    liveBlocks.enter(before);
    std::string text = describeWaiting(group);
    INFO(text);
    CHECK(text.find("asks waits for one of: ") != std::string::npos);
    CHECK(text.find("a timer at 2.5") != std::string::npos);
    CHECK(text.find("answers waits for a promise") != std::string::npos);
    text = describeWaiting(group, [&](void const* what) {
        return what == promise.getFuture().cell() ? std::string("the oracle") : std::string();
    });
    CHECK(text.find("answers waits for the oracle") != std::string::npos);
    promise.send(1);
    CHECK(describeWaiting(group).empty());
}
