#include "flow/loop/detail/outer_poller.h"

#include "flow/coro/coroutine.h"
#include "flow/file/async_file.h"
#include "flow/tasks/scope.h"
#include "flow/threads/run_blocking.h"
#include "flow/trace/loop_metrics.h"
#include "flow/wait/delay.h"
#include "flow/wait/signals.h"
#include "flow/wait/yielded.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/descriptors.h"
#include "tests/flow/support/outer_loop.h"
#include "tests/flow/support/temporary_directory.h"

#include <doctest/doctest.h>

#include <csignal>
#include <optional>
#include <thread>

using namespace flow;
using namespace flow::test;

namespace {

Future<int> sleepTwice(double seconds) {
    co_await delay(seconds);
    co_await delay(seconds);
    co_return 2;
}

Future<Void> keepBusy(bool const* over) {
    while (!*over)
        co_await yield();
}

Future<Void> writeFile(std::string path) {
    Reference<AsyncFile> file = co_await files().open(path, OpenMode::Create);
    co_await file->write(0, "text"_sr);
    co_await file->sync();
}

Future<Void> noteAfter(double seconds, bool* done) {
    co_await delay(seconds);
    *done = true;
}

} // namespace

TEST_CASE("loop inside another: its descriptor is readable when a timer is due, and not before") {
    Balance balance;
    RealLoop loop;
    OuterLoop outer(loop);
    int number = loop.descriptor();
    CHECK(outer.isReadable()); // the loop has never run
    Future<Void> later = delay(1000), endless = delay(std::numeric_limits<double>::infinity());
    outer.settle();
    CHECK_FALSE(outer.isReadable(5));
    double begin = loop.timer();
    Future<int> twice = sleepTwice(0.01);
    outer.runUntil(twice);
    CHECK(twice.get() == 2);
    CHECK(loop.timer() - begin >= 0.02);
    CHECK(outer.calls <= 10); // nothing polls
    CHECK(loop.descriptor() == number);
    outer.settle();
}

TEST_CASE("loop inside another: posts and stop() make it readable, from other threads and from its own") {
    RealLoop loop;
    OuterLoop outer(loop);
    outer.settle();
    int calls = 0;
    for (int i = 1; i <= 50; ++i) {
        std::thread other([&] { loop.post([&] { ++calls; }); });
        outer.runUntil([&] { return calls == i; });
        other.join();
    }
    outer.settle();
    loop.post([&] { calls = -1; });
    CHECK(outer.isReadable());
    CHECK_FALSE(loop.runReady());
    CHECK(calls == -1);
    outer.settle();
    std::thread other([&] { loop.stop(); });
    CHECK(outer.isReadable(20'000));
    other.join();
    CHECK(loop.runReady());
    CHECK_FALSE(loop.runReady());
    loop.stop();
    loop.post([&] { loop.stop(); });
    CHECK(loop.runReady()); // before the post
    CHECK(outer.isReadable());
    CHECK(loop.runReady());
    outer.settle();
}

TEST_CASE("loop inside another: signals and calls that block end its rest") {
    RealLoop loop;
    OuterLoop outer(loop);
    Future<int> signal = keep(signals({SIGUSR1}));
    outer.settle();
    ::raise(SIGUSR1);
    outer.runUntil(signal);
    CHECK(signal.get() == SIGUSR1);
    signal = keep(signals({SIGUSR1}));
    outer.settle();
    std::thread other([] { ::kill(::getpid(), SIGUSR1); });
    outer.runUntil(signal);
    other.join();
    Future<int> blocking = runBlocking([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return 7;
    });
    outer.runUntil(blocking);
    CHECK(blocking.get() == 7);
    TemporaryDirectory folder;
    Future<Void> writing = writeFile(folder.path() + "/file");
    outer.runUntil(writing);
    outer.settle();
}

TEST_CASE("loop inside another: a loop that is always busy gives way, and stays readable") {
    RealLoop loop;
    OuterLoop outer(loop);
    bool over = false;
    Future<Void> busy = keepBusy(&over);
    for (int i = 0; i < 3; ++i) {
        loop.runReady();
        CHECK(outer.isReadable());
    }
    over = true;
    outer.runUntil(busy);
    outer.settle();
}

TEST_CASE("loop inside another: run() sleeps itself, outside and inside of a step, and the descriptor goes on") {
    RealLoop loop;
    OuterLoop outer(loop);
    outer.settle();
    std::uint64_t before = loop.stepsRun();
    loop.run(delay(0.005));
    CHECK(loop.stepsRun() - before <= 10);
    CHECK(outer.isReadable()); // it has not come to rest
    CHECK(outer.isReadable()); // still: only runReady() begins a rest
    outer.settle();
    bool ran = false;
    std::thread other([&] { loop.post([&] { ran = true; }); });
    outer.runUntil([&] { return ran; });
    other.join();
    ran = false;
    loop.post([&] {
        loop.run(delay(0.005));
        ran = true;
    });
    loop.runReady();
    CHECK(ran);
    outer.settle();
    Future<int> posted = runBlocking([] { return 1; });
    CHECK(loop.run(std::move(posted)) == 1);
}

TEST_CASE("loop inside another: after a run() in its rest, posts of other threads and timers make it readable") {
    RealLoop loop;
    OuterLoop outer(loop);
    for (double seconds : {0.0, 0.005}) { // 0: run() does not sleep
        outer.settle();
        loop.run(delay(seconds));
        bool ran = false;
        std::thread other([&] { loop.post([&] { ran = true; }); });
        other.join();
        CHECK(outer.isReadable());
        outer.runUntil([&] { return ran; });
        outer.settle();
        Future<Void> soon;
        auto makesTimer = [&]() -> Future<Void> {
            co_await delay(0);
            soon = delay(0.001);
        };
        loop.run(makesTimer());
        outer.runUntil(soon);
    }
    outer.settle();
}

TEST_CASE("loop inside another: the end of the loop waits for its last work, and closes all") {
    RealLoop().run(delay(0.001));
    bool done = false;
    int before = openDescriptors();
    {
        Balance balance;
        RealLoop loop;
        OuterLoop outer(loop);
        Future<Void> never = delay(1000);
        shield(noteAfter(0.01, &done), 5.0);
        outer.settle();
        loop.post([] {}); // comes while the loop rests, and may not run
    }
    CHECK(done);
    CHECK(openDescriptors() == before);
    {
        RealLoop loop;
        (void)loop.descriptor(); // never driven
    }
    CHECK(openDescriptors() == before);
}

TEST_CASE("loop inside another: its sleep counts as idle") {
    RealLoop loop;
    OuterLoop outer(loop);
    outer.settle();
    LoopMetrics metrics(loop); // added while the loop rests
    Future<Void> soon = delay(0.02);
    outer.runUntil(soon);
    LoopFigures figures = metrics.figures();
    CHECK(figures.idle > 0.001);
    CHECK(figures.idle <= figures.seconds);
}

TEST_CASE("loop inside another: a child of fork() drives it on, with the same number") {
    RealLoop loop;
    OuterLoop outer(loop);
    Future<int> twice = sleepTwice(0.005);
    outer.settle();
    int number = loop.descriptor();
    Death child = runInChild([&] {
        loop.runReady(); // replaces what the parent would share
        if (loop.descriptor() != number)
            return 1;
        for (bool first = true; !twice.isReady(); first = false) {
            if (!outer.isReadable(20'000))
                return 2;
            loop.runReady();
            if (first)
                loop.post([] {});
        }
        return 0;
    });
    CHECK(child.status == 0);
    outer.runUntil(twice);
    outer.settle();
}

TEST_CASE("loop inside another: misuse is named") {
    Death nested = runInChild([] {
        RealLoop loop;
        loop.post([&] { loop.runReady(); });
        loop.runReady();
    });
    CHECK(nested.aborted());
    CHECK(nested.says("runReady() inside of a step of its loop: let the other loop call it"));
    CHECK(nested.says("outer_poller_test.cpp"));
    Death other = runInChild([] {
        RealLoop first, second;
        first.runReady();
    });
    CHECK(other.says("runReady() on a loop that is not the current one of this thread"));
    Death poller = runInChild([] {
        struct Blind final : Poller {
            void prepare() override {}
            void wait(double) noexcept override {}
            void wake() noexcept override {}
            void takeWake() noexcept override {}
        } blind;
        RealLoop loop;
        loop.usePoller(&blind);
        (void)loop.descriptor();
    });
    CHECK(poller.says("a loop with a descriptor() needs a poller that has a descriptor(), too"));
}
