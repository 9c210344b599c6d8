#include "flow/inspect/reports.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <thread>
#include <unistd.h>

using namespace flow;

namespace {

/// Of a wait in this file.
std::string at(int line) {
    return " at reports_test.cpp:" + std::to_string(line);
}
bool has(test::Death const& death, std::string const& part) {
    return death.says(part.c_str());
}
constexpr int kAsserts = __LINE__ + 2;
Future<Void> reportsAsserts(Future<Void> go) {
    co_await go;
    FLOW_ASSERT(false, "a planted failure");
}
constexpr int kRaises = __LINE__ + 3;
Future<Void> reportsRaises(Future<Void> go) {
    co_await go;
    throw io_error();
}
constexpr int kWaits = __LINE__ + 2;
Future<Void> reportsWaits(Future<Void> other) {
    co_await other;
}

} // namespace

TEST_CASE("reports: a failed assertion prints the chain of awaiters and what is pending") {
    auto fails = [] {
        RealLoop loop;
        loop.run(reportsWaits(reportsAsserts(delay(0))));
    };
    test::Death death = test::runInChild(fails);
    INFO(death.text);
    CHECK(death.aborted());
    CHECK(death.says("a planted failure"));
    CHECK(has(death, "coroutine reportsAsserts" + at(kAsserts) + " runs\n  awaited by coroutine reportsWaits" +
                         at(kWaits) + "\n"));
}

TEST_CASE("reports: if nothing catches the error of a drained loop, what is pending is printed") {
    auto drains = [] { // on a thread, since doctest would catch the error
        RealLoop loop;
        loop.run(reportsWaits(Never()));
    };
    test::Death death = test::runInChild([&] { std::thread(drains).join(); });
    INFO(death.text);
    CHECK(death.aborted());
    CHECK(has(death, "coroutine reportsWaits" + at(kWaits) + " waits for what is never ready"));
    CHECK(death.says("uncaught error loop_drained"));
}

TEST_CASE("reports: an error that ends the program when nothing is pending says nothing of that") {
    auto raises = [] {
        RealLoop loop;
        loop.run(reportsRaises(delay(0)));
    };
    test::Death death = test::runInChild([&] { std::thread(raises).join(); });
    CHECK(death.aborted());
    CHECK_MESSAGE(death.says("flow: uncaught error io_error"), death.text);
    CHECK_MESSAGE(!death.says("pending"), death.text);
}

TEST_CASE("reports: errors that are not read, or end the program, say where they were raised") {
    auto raises = [] {
        Error::recordOrigins(true);
        RealLoop loop;
        (void)reportsRaises(Void()).isReady(); // not read
        loop.run(reportsWaits(reportsRaises(delay(0))));
    };
    test::Death death = test::runInChild([&] { std::thread(raises).join(); });
    INFO(death.text);
    std::string raised = "  raised at reports_test.cpp:" + std::to_string(kRaises) + "\n";
    CHECK(has(death, "dropped by reportsRaises: input or output failed\n" + raised));
    CHECK(has(death, "flow: uncaught error io_error (1510): input or output failed\n" + raised));
}

TEST_CASE("reports: SIGQUIT lets a loop that sleeps print, and run on") {
    auto quits = [] {
        RealLoop loop;
        reportOnQuit();
        Future<Void> done = reportsWaits(delay(3600));
        std::thread other([] { ::kill(::getpid(), SIGQUIT); });
        loop.run(delay(0.05));
        other.join();
    };
    test::Death death = test::runInChild(quits);
    INFO(death.text);
    CHECK(death.status == 0);
    CHECK(death.says("flow: SIGQUIT: "));
    CHECK(has(death, "coroutine reportsWaits" + at(kWaits) + " waits for coroutine "));
}
