// The clocks of compat, and how g_network->run() ends.
#include "flow/compat/flow/ThreadHelper.h"
#include "flow/compat/flow/genericactors.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>
#include <unistd.h>

using flow::test::Death;
using flow::test::runInChild;

namespace {

double unixTime() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void checkRealClocks() {
    double before = unixTime();
    double seen = timer();
    CHECK(before <= seen);
    CHECK(seen <= unixTime());
    double first = timer_monotonic();
    std::uint64_t nanoseconds = timer_int();
    CHECK(first <= timer_monotonic());
    CHECK(static_cast<double>(nanoseconds) / 1e9 == doctest::Approx(seen).epsilon(1e-6));
}

} // namespace

TEST_CASE("compat clocks: in a simulation all are the simulated clock") {
    flow::SimLoop simulated;
    simulated.run(flow::delay(1.5));
    for (double clock : {timer(), timer_monotonic(), now(), g_network->timer(), g_network->timer_monotonic()})
        CHECK(clock == 1.5);
}

TEST_CASE("compat clocks: timer() is Unix time; timer_monotonic() goes on from now()") {
    checkRealClocks(); // also without a loop
    double before = timer_monotonic();
    flow::RealLoop here;
    checkRealClocks();
    double turn = now();
    CHECK(before <= turn);
    double latency = timer_monotonic() - turn;
    CHECK(latency >= 0);
    CHECK(turn + latency <= timer_monotonic());
    std::thread([before] { CHECK(timer_monotonic() >= before); }).join();
}

TEST_CASE("compat: run() of newNet2() goes on until stop(), and says once that nothing is left to do") {
    Death child = runInChild([] {
        int log[2];
        if (::pipe(log) != 0)
            std::abort();
        int standardError = ::dup(2);
        ::dup2(log[1], 2);
        g_network = newNet2(TLSConfig());
        Promise<Void> never;
        Future<Void> waiting = success(never.getFuture());
        std::thread([from = log[0]] {
            char first; // comes with the sentence: until then, a call could arrive before the loop has run out of work
            if (::read(from, &first, 1) != 1)
                std::abort();
            for (int i = 0; i < 3; ++i)
                onMainThread([]() -> Future<Void> { return Void(); }).blockUntilReady();
            onMainThreadVoid([] { g_network->stop(); });
        }).detach();
        g_network->run();
        ::dup2(standardError, 2);
        ::close(log[1]);
        char text[4096];
        for (ssize_t got; (got = ::read(log[0], text, sizeof text)) > 0;)
            std::fwrite(text, 1, static_cast<std::size_t>(got), stderr);
        return 7;
    });
    CHECK(child.status == 7);
    std::size_t at = child.text.find("nothing is left to do");
    REQUIRE_MESSAGE(at != std::string::npos, child.text);
    CHECK(child.text.find("nothing is left to do", at + 1) == std::string::npos);
    CHECK(child.says("pending"));
}

TEST_CASE("compat: run() says nothing where stop() ends it, and returns where the program has made the loop") {
    Death child = runInChild([] {
        g_network = newNet2(TLSConfig());
        Future<Void> end = stopAfter(Future<Void>(delay(0)));
        g_network->run();
        end = stopAfter(Future<Void>(delay(0)));
        g_network->run();
        flow::RealLoop own;
        g_network->run();
    });
    CHECK(child.status == 0);
    CHECK(child.text == "");
}

TEST_CASE("compat: a call for the main loop behind the end of run() ends the program") {
    for (bool byThread : {false, true}) {
        Death child = runInChild([byThread] {
            g_network = newNet2(TLSConfig());
            g_network->stop();
            g_network->run();
            auto call = [] { onMainThread([]() -> Future<Void> { return Void(); }).blockUntilReady(); };
            byThread ? std::thread(call).join() : call();
        });
        CHECK(child.aborted());
        CHECK_MESSAGE(child.says("g_network->run() has returned"), child.text);
    }
}

TEST_CASE("compat: onMainThread() in a test of the runner") {
    SUBCASE("on the loop of the test, simulated or not") {
        flow::SimLoop simulated;
        flow::loopOfTest = &simulated;
        CHECK(simulated.run(safeThreadFutureToFuture(onMainThread([] { return Future<int>(3); }))) == 3);
        flow::loopOfTest = nullptr;
    }
    SUBCASE("from another thread, on a real loop") {
        flow::RealLoop here;
        flow::loopOfTest = &here;
        int seen = 0;
        std::thread other([&seen] { onMainThread([&seen]() -> Future<int> { return seen = 3; }).blockUntilReady(); });
        flow::WorkGuard guard(here);
        while (seen == 0)
            here.run(flow::delay(0));
        other.join();
        flow::loopOfTest = nullptr;
    }
    SUBCASE("not from another thread in a simulation") {
        Death child = runInChild([] {
            flow::SimLoop simulated;
            flow::loopOfTest = &simulated;
            std::thread([] { onMainThreadVoid([] {}); }).join();
        });
        CHECK(child.aborted());
        CHECK(child.says("run it with --real"));
    }
}
