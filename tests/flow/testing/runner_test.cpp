#include "flow/testing/detail/runner.h"

#include "flow/base/random.h"
#include "flow/coro/coroutine.h"
#include "flow/test.h"
#include "tests/flow/support/death.h"

#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

using namespace flow;

namespace {

Future<Void> kept;

FLOW_TEST_CASE("/runner/passes/at once") {
    return Void();
}

FLOW_TEST_CASE("/runner/passes/after an hour") {
    FLOW_ASSERT_EQ(now(), 0);
    co_await delay(3599);
}

FLOW_TEST_CASE("/runner/passes/random") {
    std::printf("drew %d\n", deterministicRandom()->randomInt(0, 1000000));
    co_return;
}

FLOW_TEST_CASE("/runner/fails/assertion") {
    co_await delay(1);
    FLOW_ASSERT_EQ(params.getInt("size").orDefault(3), 4);
}

FLOW_TEST_CASE("/runner/fails/error of a plain function") {
    throw io_error();
}

FLOW_TEST_CASE("/runner/fails/exception") {
    co_await delay(1);
    throw std::runtime_error("disk on fire");
}

FLOW_TEST_CASE("/runner/fails/hangs") {
    co_await Future<Void>(Never());
}

FLOW_TEST_CASE("/runner/fails/never ends") {
    for (;;)
        co_await delay(1);
}

FLOW_TEST_CASE("/runner/fails/invalid") {
    return Future<Void>();
}

FLOW_TEST_CASE("/runner/crashes") {
    co_await delay(1);
    ASSERT_ABORT(1 > 2);
}

FLOW_TEST_CASE("/runner/spins") {
    for (;;)
        co_await delay(0);
}

FLOW_TEST_CASE("/runner/leaks") {
    kept = delay(1);
    return Void();
}

FLOW_TEST_CASE("/runner/differs") {
    static int runs = 0;
    noUnseed = params.get("excused").present();
    co_await delay(++runs);
}

FLOW_TEST_CASE("/runner/probes") {
    FLOW_CODE_PROBE(deterministicRandom()->random01() < 2, "a probe that is hit");
    FLOW_CODE_PROBE(deterministicRandom()->random01() > 2, "a probe that is missed");
    FLOW_CODE_PROBE(deterministicRandom()->random01() > 2, "a rare probe", probe::decoration::rare);
    return Void();
}

/// Runs a program of these tests. What it prints is in `text`, with standard error.
test::Death run(std::vector<char const*> words) {
    words.insert(words.begin(), "./my tests");
    return test::runInChild([&] {
        ::dup2(STDERR_FILENO, STDOUT_FILENO);
        int code = testMain(static_cast<int>(words.size()), words.data());
        std::fflush(stdout);
        ::_exit(code);
    });
}

} // namespace

TEST_CASE("runner: tests that pass") {
    test::Death program = run({"--filter", "/runner/passes/a", "--seed", "5"});
    CHECK(program.status == 0);
    CHECK(program.text == "seed 5\n"
                          "ok     /runner/passes/after an hour (3599 s)\n"
                          "ok     /runner/passes/at once (0 s)\n"
                          "2 passed, 0 failed\n");
}

TEST_CASE("runner: a failure names test, error, place, seed and how to repeat it") {
    test::Death program = run({"--filter", "/fails/assertion", "--seed", "7", "--param", "size=5"});
    INFO(program.text);
    CHECK(program.status == 1);
    CHECK(program.says("flow: assertion failed: params.getInt(\"size\").orDefault(3) == 4: 5 and 4 at "));
    CHECK(program.says("FAILED /runner/fails/assertion: internal_error (4100): "));
    CHECK(program.says("runner_test.cpp:"));
    CHECK(program.says("again: './my tests' --param size=5 --seed 7 --filter /runner/fails/assertion\n"));
    CHECK(program.says("0 passed, 1 failed\n"));
    CHECK(run({"--filter", "/fails/assertion", "--param", "size=4"}).status == 0);
}

TEST_CASE("runner: every way to fail") {
    test::Death program = run({"--filter", "/runner/fails/*", "--seed=1", "--timeout=20"});
    INFO(program.text);
    CHECK(program.status == 1);
    CHECK(program.says("/error of a plain function: io_error (1510): input or output failed\n"));
    CHECK(program.says("/exception: unknown_error (4000): std::runtime_error: disk on fire\n"));
    CHECK(program.says("/hangs: not done after 20 s, and nothing could wake it\n"));
    CHECK(program.says(" waits for what is never ready\n"));
    CHECK(program.says("/never ends: not done after 20 s\n"));
    CHECK(program.says("/invalid: it returned an invalid Future\n"));
    CHECK(program.says("--filter '/runner/fails/error of a plain function'\n"));
    CHECK(program.says("0 passed, 6 failed\n"));
}

TEST_CASE("runner: a failure says where the error was raised, if that is recorded") {
    Error::recordOrigins(true);
    test::Death program = run({"--filter", "/error of a plain function", "--seed=1"});
    Error::recordOrigins(false);
    INFO(program.text);
    CHECK(program.says("/error of a plain function: io_error (1510): input or output failed\n"
                       "raised at runner_test.cpp:"));
}

TEST_CASE("runner: a crash and a test without end are named") {
    test::Death program = run({"--filter", "/runner/crashes", "--seed", "3"});
    INFO(program.text);
    CHECK(program.aborted());
    CHECK(program.says("FAILED /runner/crashes: it aborted\n"));
    CHECK(program.says("--seed 3 --filter /runner/crashes\n"));
    program = run({"--filter", "/runner/spins", "--limit", "1"});
    CHECK(program.status == 1);
    CHECK(program.says("FAILED /runner/spins: it ran too long for --limit\n"));
}

TEST_CASE("runner: random numbers depend on the seed and the name alone") {
    std::string together = run({"--filter", "/runner/passes/*", "--seed", "11"}).text;
    test::Death alone = run({"--filter", "/runner/passes/random", "--seed", "11"});
    std::string drawn = alone.text.substr(alone.text.find("drew"));
    drawn.resize(drawn.find('\n') + 1);
    CHECK(together.find(drawn) != std::string::npos);
    CHECK_FALSE(run({"--filter", "/runner/passes/random", "--seed", "12"}).says(drawn.c_str()));
}

TEST_CASE("runner: without a seed one is chosen and printed") {
    test::Death program = run({"--filter", "/runner/passes/at once"});
    CHECK(program.status == 0);
    CHECK(program.text.substr(0, 5) == "seed ");
    CHECK(program.text[5] >= '0');
    CHECK(program.text[5] <= '9');
}

TEST_CASE("runner: what a test leaves behind is noted") {
    test::Death program = run({"--filter", "/runner/leaks"});
    CHECK(program.status == 0);
    CHECK(program.says("note: 1 blocks are still held after it"));
    CHECK_FALSE(run({"--filter", "/runner/passes/a"}).says("note"));
}

TEST_CASE("runner: --twice finds runs that differ") {
    CHECK(run({"--twice", "--filter", "/runner/differs"}).says("two runs with one seed differ"));
    CHECK(run({"--filter", "/runner/differs"}).status == 0);
    CHECK(run({"--twice", "--filter", "/runner/differs", "--param", "excused=1"}).status == 0);
    CHECK(run({"--twice", "--filter", "/runner/passes/*"}).status == 0);
}

TEST_CASE("runner: the machine's clock") {
    test::Death program = run({"--real", "--filter", "/runner/leaks", "--filter", "/passes/at once"});
    CHECK(program.status == 0);
    CHECK(program.says("2 passed, 0 failed"));
    program = run({"--real", "--timeout", "0.01", "--filter", "/runner/fails/hangs", "--seed", "1"});
    CHECK(program.says("not done after 0.01 s, and nothing could wake it"));
    CHECK(program.says("again: './my tests' --real --timeout 0.01 --seed 1"));
}

TEST_CASE("runner: missed probes are listed when nothing was left out") {
    test::Death program = test::runInChild([] {
        ::dup2(STDERR_FILENO, STDOUT_FILENO);
        while (std::strcmp(g_unittests.tests->name, "/runner/probes") != 0) // all others of this program are removed
            g_unittests.tests = g_unittests.tests->next;
        UnitTestCollection const all = g_unittests;
        UnitTest alone(all.tests->name, all.tests->file, all.tests->line, all.tests->func);
        g_unittests.tests = &alone;
        const_cast<UnitTest*&>(alone.next) = nullptr;
        char const* words[] = {"./tests"};
        return testMain(1, words);
    });
    INFO(program.text);
    CHECK(program.says("missed probe: a probe that is missed (deterministicRandom()->random01() > 2) at "));
    CHECK_FALSE(program.says("probe that is hit"));
    CHECK_FALSE(program.says("a rare probe"));
    CHECK_FALSE(run({"--filter", "/runner/probes"}).says("missed probe"));
}

TEST_CASE("runner: --trace") {
    char path[] = "/tmp/millrace-trace-XXXXXX";
    ::close(::mkstemp(path));
    test::Death program = run({"--filter", "/runner/fails/assertion", "--trace", path, "--seed", "3"});
    CHECK(program.status == 1);
    std::ifstream file(path);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::remove(path);
    INFO(text);
    bool named = text.find("\"Type\":\"UnitTest\",\"Name\":\"/runner/fails/assertion\",\"Seed\":3}") != text.npos;
    CHECK(named);
    bool failed = text.find("\"Time\":1,\"Severity\":40,\"Type\":\"AssertionFailed\"") != text.npos;
    CHECK(failed);
    CHECK(run({"--filter", "/runner/passes", "--trace", "/no such folder/file"}).status == 2);
}

TEST_CASE("runner: --list, --help and mistakes") {
    test::Death program = run({"--list", "--filter", "/runner/passes/a*"});
    CHECK(program.status == 0);
    CHECK(program.text == "/runner/passes/after an hour\n/runner/passes/at once\n");
    CHECK(run({"--help"}).says("--filter TEXT"));
    CHECK(run({"--help"}).status == 0);
    program = run({"--filter", "no such test"});
    CHECK(program.status == 2);
    CHECK(program.says("no test is selected"));
    program = run({"--lits"});
    CHECK(program.status == 2);
    CHECK(program.text == "./my tests: unknown option --lits\nhint: did you mean --list?\n");
}
