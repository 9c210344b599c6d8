#include "flow/testing/detail/bench_runner.h"

#include "flow/bench.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/temporary_directory.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <unistd.h>

using namespace flow;

namespace {

BENCHMARK_CASE("/bench/yields", n) {
    for (; n > 0; --n)
        co_await delay(0);
}

Future<Void> startAtOnce() {
    co_return;
}

BENCHMARK_CASE("/bench/set-up", n) {
    std::vector<std::unique_ptr<int>> before;
    for (int i = 0; i < 100; ++i)
        before.push_back(std::make_unique<int>(i));
    co_await delay(5);
    Benchmark::start();
    for (; n > 0; --n)
        co_await startAtOnce();
    Benchmark::stop();
    before.clear();
    co_await delay(0);
}

int timesRun = 0;

BENCHMARK_CASE("/bench/sizes", n, 2, 8) {
    ++timesRun;
    for (; n > 0; --n)
        co_await delay(0);
}

BENCHMARK_CASE("/bench/counts its set-up out", n, 4) {
    for (int i = 0; i < 50; ++i)
        co_await delay(0);
    Benchmark::start();
    for (; n > 0; --n)
        co_await delay(0);
}

BENCHMARK_CASE("/bench/own numbers", n) {
    Benchmark::setItems(10);
    Benchmark::addFigure("weight", 2.5);
    Benchmark::addFigure("allocs_per_item", 77);
    Benchmark::setLabel("a \"label\"");
    for (; n > 0; --n)
        co_await delay(0);
}

BENCHMARK_CASE("/fails/with an error", n) {
    co_await delay(1);
    throw io_error();
}

BENCHMARK_CASE("/fails/with an exception", n) {
    throw std::runtime_error("no queue");
}

BENCHMARK_CASE("/fails/and says why", n) {
    Benchmark::fail("too few");
    return Void();
}

BENCHMARK_CASE("/fails/never ends", n) {
    co_await Future<Void>(Never());
}

BENCHMARK_CASE("/fails/invalid", n) {
    return Future<Void>();
}

bool const added = Benchmark::add({.name = "/bench/once",
                                   .body =
                                       [](std::int64_t n) {
                                           Benchmark::addFigure("n", static_cast<double>(n));
                                           Benchmark::addFigure("has_loop", hasLoop());
                                           return Future<Void>(Void());
                                       },
                                   .hasThreads = true,
                                   .hasOwnLoop = true,
                                   .isOnce = true});

test::Death runBench(std::vector<char const*> words) {
    words.insert(words.begin(), "./my_bench");
    return test::runInChild([&] {
        ::dup2(STDERR_FILENO, STDOUT_FILENO);
        int code = benchMain(static_cast<int>(words.size()), words.data());
        std::fflush(stdout);
        ::_exit(code);
    });
}

/// The file of --json.
std::string resultsOf(std::vector<char const*> words) {
    test::TemporaryDirectory folder;
    std::string file = folder.path() + "/results.json";
    words.insert(words.end(), {"--repetitions", "1", "--json", file.c_str()});
    test::Death program = runBench(words);
    CHECK_MESSAGE(program.status == 0, program.text);
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
}

bool has(std::string const& text, std::string const& part) {
    return text.find(part) != std::string::npos;
}

double numberOf(std::string const& text, std::string const& key) {
    std::size_t place = text.find("\"" + key + "\": ");
    return place == std::string::npos ? -1 : std::stod(text.substr(place + key.size() + 4));
}

} // namespace

TEST_CASE("bench runner: lists, selects, and prints a table") {
    CHECK(runBench({"--list", "--filter", "/bench/s"}).text == "/bench/set-up\n/bench/sizes/2\n/bench/sizes/8\n");
    CHECK(runBench({"--list", "--case", "/bench/sizes/8", "--case=/bench/once"}).text ==
          "/bench/sizes/8\n/bench/once\tthreads\n");
    test::Death program = runBench({"--filter", "/bench/*", "--iterations", "10", "--repetitions", "2"});
    INFO(program.text);
    CHECK(program.status == 0);
    CHECK(program.says("ns/item"));
    CHECK(program.says("\n/bench/sizes/8 "));
}

TEST_CASE("bench runner: steps and allocations of an item, without the set-up") {
    std::string yields = resultsOf({"--case", "/bench/yields", "--iterations", "100000"});
    CHECK(numberOf(yields, "steps_per_item") == doctest::Approx(1).epsilon(0.001));
    CHECK(numberOf(yields, "allocs_per_item") < 0.001);
    CHECK(has(yields, "\"iterations\": 100000,"));
    CHECK(has(yields, "\"loop\": \"sim\""));
    CHECK(has(yields, "\"time_unit\": \"ns\""));
    std::string setUp = resultsOf({"--case", "/bench/set-up", "--iterations", "100000"});
    CHECK(numberOf(setUp, "allocs_per_item") == doctest::Approx(1).epsilon(0.001));
    CHECK(has(setUp, "\"intervals\": 1"));
    std::string out = resultsOf({"--filter", "counts its set-up out", "--iterations", "10"});
    CHECK(has(out, "\"steps_per_item\": 1"));
    CHECK(has(out, "\"intervals\": 10"));
    CHECK(has(out, "\"size\": 4"));
    CHECK(has(out, "\"items_per_op\": 4"));
}

TEST_CASE("bench runner: a case with sizes runs so often as it is asked to") {
    timesRun = 0;
    test::TemporaryDirectory folder;
    std::vector<char const*> words{"bench", "--case", "/bench/sizes/8", "--iterations", "7", "--repetitions", "3"};
    CHECK(benchMain(static_cast<int>(words.size()), words.data()) == 0);
    CHECK(timesRun == 21);
    words = {"bench", "--case", "/bench/sizes/2", "--min-time", "0", "--repetitions", "1"};
    CHECK(benchMain(static_cast<int>(words.size()), words.data()) == 0);
    CHECK(timesRun == 23); // once to see how long it takes
}

TEST_CASE("bench runner: numbers, a label and a loop of its own") {
    std::string own = resultsOf({"--case", "/bench/own numbers", "--iterations", "20"});
    CHECK(has(own, "\"weight\": 2.5"));
    CHECK(has(own, "\"allocs_per_item\": 77"));
    CHECK(has(own, "\"items_per_op\": 10"));
    CHECK(has(own, "\"label\": \"a \\\"label\\\"\""));
    std::string once = resultsOf({"--case", "/bench/once"});
    CHECK(has(once, "\"n\": 1"));
    CHECK(has(once, "\"has_loop\": 0"));
    CHECK(has(once, "\"has_threads\": true"));
    CHECK_FALSE(has(once, "steps_per_item"));
    std::string real = resultsOf({"--case", "/bench/yields", "--loop", "real", "--iterations", "10"});
    CHECK(has(real, "\"loop\": \"real\""));
}

TEST_CASE("bench runner: a failure is named, and the others run") {
    test::Death program = runBench({"--filter", "/fails/*", "--filter", "/bench/yields", "--min-time=0", "--verbose"});
    INFO(program.text);
    CHECK(program.status == 1);
    CHECK(program.says("running /bench/yields, 1 iterations\n"));
    CHECK(program.says("FAILED: io_error (1510): "));
    CHECK(program.says("FAILED: unknown_error (4000): std::runtime_error: no queue"));
    CHECK(program.says("FAILED: too few\n"));
    CHECK(program.says("FAILED: loop_drained "));
    CHECK(program.says("FAILED: it returned an invalid Future\n"));
}

TEST_CASE("bench runner: a wrong command line") {
    test::Death program = runBench({"--filter", "no such name"});
    CHECK(program.status == 2);
    CHECK(program.says("no benchmark is selected"));
    CHECK(runBench({"--case", "/bench/sizes"}).says("there is no benchmark /bench/sizes; "));
    CHECK(runBench({"--loop", "fast"}).says("--loop takes sim or real, not 'fast'"));
    CHECK(runBench({"--repetitions=0"}).says("--repetitions takes a number, 1 or more, not '0'"));
    CHECK(runBench({"--json", "/no such folder/x"}).says("cannot be written: /no such folder/x"));
    CHECK(runBench({"--help"}).says("--min-time SECONDS"));
}

TEST_CASE("benchmark: wrong sizes are reported at the caller") {
    test::Death death = test::runInChild([] {
        Benchmark::add({.name = "/wrong", .body = [](std::int64_t) { return Future<Void>(Void()); }, .sizes = {0}});
    });
    CHECK(death.says("the sizes of a benchmark are at least 1"));
    CHECK(death.says("bench_runner_test.cpp"));
}
