// The runner of unit tests. Before each test it makes the text that says how to repeat the test, so that a
// CrashReporter can print it if the test crashes or hangs.
//
// runOnce() seeds the thread's random numbers from the run's seed and the name of the test, makes a new loop, and runs
// the test on it until its future is ready or the timeout is over. Then it compares the number of live blocks with the
// number before, to report leaks. The "unseed" is computed from a random number, the number of steps and the virtual
// time. With --twice, a test fails if the unseeds of its two runs differ.

#include "flow/testing/detail/runner.h"

#include "flow/base/detail/seed.h"
#include "flow/base/format.h"
#include "flow/base/random.h"
#include "flow/combine/all.h"
#include "flow/inspect/pending_report.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/fast_allocator.h"
#include "flow/sim/sim_loop.h"
#include "flow/testing/detail/crash_reporter.h"
#include "flow/testing/detail/describe_error.h"
#include "flow/trace/code_probe.h"
#include "flow/trace/trace_event.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>

namespace flow {
namespace {

struct Outcome {
    std::string failure; // empty if the test passed
    double seconds = 0;  // time of the test's loop
    std::int64_t leaked = 0;
    std::uint64_t unseed = 0; // equal for equal runs
};

/// Returns the pending computations, indented; empty if there are none.
std::string pendingLines() {
    std::string text, lines;
    dumpPending(text, {PendingFormat::Text, 30});
    if (text.starts_with("0 "))
        return "";
    for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1))
        lines += "\n  " + std::string(rest.substr(0, rest.find('\n')));
    return lines;
}

/// Runs the test. Returns the reason of its failure; "" if it passed.
std::string attempt(Loop& current, UnitTest const& test, TestOptions const& options) {
    Future<Void> done;
    try {
        double seconds = options.timeout.orDefault(options.realLoop ? 60 : 3600);
        done = test.func(options.parameters);
        if (!done.isValid())
            return "it returned an invalid Future";
        current.run(done || Future<Void>(delay(seconds)));
        if (done.isReady())
            return "";
        return format(current.hasWork() ? "not done after %g s" : "not done after %g s, and nothing could wake it",
                      seconds) +
               pendingLines();
    } catch (...) {
        return testing::describeError(currentError()) + pendingLines();
    }
}

Outcome runOnce(UnitTest const& test, TestOptions const& options, std::uint64_t seed) {
    Outcome outcome;
    noUnseed = false;
    setThreadLocalDeterministicRandomSeed(seedFor(seed, test.name));
    std::int64_t before = memory::totalStatistics().live();
    {
        std::unique_ptr<Loop> current;
        if (options.realLoop)
            current = std::make_unique<RealLoop>();
        else
            current = std::make_unique<SimLoop>();
        loopOfTest = current.get();
        double start = current->now();
        outcome.failure = attempt(*current, test, options);
        outcome.seconds = current->now() - start;
        outcome.unseed = deterministicRandom()->randomUInt64() + current->stepsRun() * 0x9E3779B97F4A7C15u;
        if (!options.realLoop)
            outcome.unseed += std::bit_cast<std::uint64_t>(outcome.seconds);
        loopOfTest = nullptr;
    }
    outcome.leaked = memory::totalStatistics().live() - before;
    return outcome;
}

Outcome run(UnitTest const& test, TestOptions const& options, std::uint64_t seed) {
    Outcome outcome = runOnce(test, options, seed);
    if (options.twice && outcome.failure.empty() && !noUnseed) {
        Outcome second = runOnce(test, options, seed);
        if (!second.failure.empty())
            outcome.failure = "passed, and failed with the same seed: " + second.failure;
        else if (second.unseed != outcome.unseed && !noUnseed)
            outcome.failure = "two runs with one seed differ";
    }
    return outcome;
}

std::string quoted(std::string const& word) {
    if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_-.=,:+@%") ==
            std::string::npos &&
        !word.empty())
        return word;
    std::string text = "'";
    for (char letter : word)
        text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    return text + "'";
}

/// Returns the place of the test, and the command that repeats it.
std::string howToRepeat(UnitTest const& test, TestOptions const& options, std::uint64_t seed) {
    std::string command = quoted(options.program);
    for (std::string const& word : options.rerun)
        command += " " + quoted(word);
    command += format(" --seed %llu --filter %s", static_cast<unsigned long long>(seed), quoted(test.name).c_str());
    return format("  at %s:%d\n  again: %s\n", test.file, test.line, command.c_str());
}

std::vector<UnitTest const*> selectTests(TestOptions const& options) {
    std::vector<UnitTest const*> selected;
    for (UnitTest const* test = g_unittests.tests; test; test = test->next)
        if (anyFilterMatches(options.filters, test->name))
            selected.push_back(test);
    auto before = [](UnitTest const* a, UnitTest const* b) {
        int order = std::strcmp(a->name, b->name);
        return order != 0 ? order < 0 : a->line < b->line;
    };
    std::sort(selected.begin(), selected.end(), before);
    return selected;
}

void report(UnitTest const& test, Outcome const& outcome, std::string const& repeat) {
    if (outcome.failure.empty())
        std::printf("ok     %s (%g s)\n", test.name, outcome.seconds);
    else
        std::printf("FAILED %s: %s\n%s", test.name, outcome.failure.c_str(), repeat.c_str());
    if (outcome.leaked > 0)
        std::printf("  note: %lld blocks are still held after it: actors, futures or arenas that were not released\n",
                    static_cast<long long>(outcome.leaked));
    std::fflush(stdout);
}

void reportMissedProbes() {
    std::vector<CodeProbe const*> missed = CodeProbe::missed();
    for (CodeProbe const* probe : missed)
        std::printf("missed probe: %s (%s) at %s:%d\n", probe->comment(), probe->condition(), probe->file(),
                    probe->line());
}

} // namespace

int runUnitTests(TestOptions const& options) {
    std::vector<UnitTest const*> selected = selectTests(options);
    if (options.list) {
        for (UnitTest const* test : selected)
            std::printf("%s\n", test->name);
        return 0;
    }
    if (selected.empty()) {
        std::printf("no test is selected; --list prints their names\n");
        return 2;
    }
    std::uint64_t seed = options.seed.present() ? options.seed.get() : nondeterministicRandom()->randomUInt32();
    std::unique_ptr<TraceFile> trace;
    if (!options.traceFile.empty())
        trace = std::make_unique<TraceFile>(options.traceFile);
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    int failed = 0;
    for (UnitTest const* test : selected) {
        std::string repeat = howToRepeat(*test, options, seed);
        Outcome outcome;
        {
            testing::CrashReporter words(test->name, repeat, options.limit);
            TraceEvent("UnitTest").detail("Name", test->name).detail("Seed", seed);
            outcome = run(*test, options, seed);
        }
        failed += !outcome.failure.empty();
        report(*test, outcome, repeat);
    }
    if (options.filters.empty())
        reportMissedProbes();
    std::printf("%d passed, %d failed\n", static_cast<int>(selected.size()) - failed, failed);
    return failed == 0 ? 0 : 1;
}

int testMain(int argc, char const* const* argv) {
    try {
        TestOptions options = parseTestOptions(argc, argv);
        if (options.help) {
            std::printf("%s", testUsage().c_str());
            return 0;
        }
        return runUnitTests(options);
    } catch (Error& error) {
        std::fprintf(stderr, "%s: cannot write the trace file: %s\n", argv[0], error.what());
        return 2;
    } catch (TestUsage& usage) {
        std::fprintf(stderr, "%s: %s\n", argc > 0 ? argv[0] : "tests", usage.what());
        return 2;
    }
}

} // namespace flow
