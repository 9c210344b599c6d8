#include "flow/inspect/detail/all_loops.h"

#include "flow/coro/coroutine.h"
#include "flow/inspect/pending_report.h"
#include "flow/loop/real_loop.h"
#include "tests/flow/support/pending_text.h"

#include <atomic>
#include <doctest/doctest.h>
#include <string>
#include <thread>

using namespace flow;
using test::count, test::has, test::pendingText;

namespace {

Future<Void> leafOfLoop(Future<Void> go) {
    co_await go;
}
Future<Void> parentOfLoop(Future<Void> go) {
    co_await leafOfLoop(go);
}

} // namespace

TEST_CASE("all loops: each answers on its own thread, but one that runs a long task") {
    RealLoop loop;
    Promise<Void> mine;
    Future<Void> here = leafOfLoop(mine.getFuture());
    std::atomic<Loop*> other{nullptr};
    std::atomic<bool> isAsked{false};
    std::thread thread([&] {
        RealLoop theirs;
        WorkGuard guard(theirs);
        Promise<Void> go;
        Future<Void> parent = parentOfLoop(go.getFuture());
        theirs.post([&] { other = &theirs; });
        theirs.run();
        while (!isAsked) // nothing runs it
            std::this_thread::yield();
    });
    while (!other)
        std::this_thread::yield();
    std::string text = pendingText({.allLoops = true, .patience = 60});
    INFO(text);
    CHECK(count(text, "loop of thread ") == 2);
    CHECK(has(text, "): 1 computation is pending\ncoroutine leafOfLoop waits"));
    CHECK(has(text, "): 2 computations are pending\ncoroutine parentOfLoop waits"));
    CHECK(pendingText({.format = PendingFormat::Json, .allLoops = true, .patience = 60})
              .starts_with("{\"loops\":[{\"thread\":"));
    other.load()->stop();
    std::string late = pendingText({.allLoops = true, .patience = 0});
    INFO(late);
    isAsked = true;
    CHECK(count(late, "loop of thread ") == 2);
    thread.join();
    CHECK(count(pendingText({.allLoops = true}), "loop of thread ") == 1);
}

TEST_CASE("all loops: questions are answered while the caller does other work") {
    std::atomic<Loop*> other{nullptr};
    std::thread thread([&] {
        RealLoop theirs;
        WorkGuard guard(theirs);
        theirs.post([&] { other = &theirs; });
        theirs.run();
    });
    while (!other)
        std::this_thread::yield();
    RealLoop mine;
    LoopQuestions questions([] { return std::string("here"); });
    while (!questions.areOver())
        std::this_thread::yield();
    REQUIRE(questions.answers().size() == 1); // the calling thread is not asked
    CHECK(questions.answers()[0].isThere);
    CHECK(questions.answers()[0].text == "here");
    other.load()->stop();
    thread.join();
    CHECK(LoopQuestions([] { return std::string(); }).areOver());
}
