#include "flow/testing/detail/bench_runner.h"

#include "flow/base/format.h"
#include "flow/base/random.h"
#include "flow/inspect/detail/profile_request.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/fast_allocator.h"
#include "flow/sim/sim_loop.h"
#include "flow/testing/detail/describe_error.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <unistd.h>

namespace flow {
namespace testing {
namespace {

constexpr double kLongestSearch = 5e9; // ns: if a run takes longer, its set-up is slow, and n must not grow
constexpr std::int64_t kMostIterations = 1'000'000'000;

bool onRealLoop = false;

/// The profiler uses the call of this function as the beginning of the benchmark's work.
[[gnu::noinline]] Future<Void> callBody(BenchmarkCase const& benchmark, std::int64_t n) {
    return benchmark.body(n);
}

void runBody(BenchmarkCase const& benchmark, Loop* loop, std::int64_t n) {
    Future<Void> done = callBody(benchmark, n);
    if (!done.isValid())
        Benchmark::fail("it returned an invalid Future");
    else if (loop)
        loop->run(std::move(done));
    else if (!done.isReady())
        Benchmark::fail("its future was not ready, and it has no loop");
    else
        done.get();
}

BenchRun runOnce(BenchRow const& row, std::int64_t iterations) {
    memory::trim(); // else this benchmark would get memory that others have freed in any order
    setThreadLocalDeterministicRandomSeed(1);
    BenchmarkCase const& benchmark = *row.benchmark;
    std::unique_ptr<Loop> loop;
    if (!benchmark.hasOwnLoop && onRealLoop)
        loop = std::make_unique<RealLoop>();
    else if (!benchmark.hasOwnLoop)
        loop = std::make_unique<SimLoop>();
    BenchRun run;
    BenchmarkClock clock(loop.get());
    try {
        clock.open();
        for (std::int64_t left = row.size > 0 ? iterations : 1; left > 0 && clock.failure.empty(); --left) {
            runBody(benchmark, loop.get(), row.size > 0 ? row.size : iterations);
            if (clock.startedByBody)
                clock.closeIfOpen();
        }
        clock.closeIfOpen();
    } catch (...) {
        clock.failure = describeError(currentError());
    }
    auto n = static_cast<double>(row.size > 0 ? row.size * iterations : iterations);
    return {clock.spent(),          n * clock.items,         clock.items, clock.intervals(), clock.failure,
            std::move(clock.label), std::move(clock.figures)};
}

void say(BenchOptions const& options, BenchRow const& row, std::int64_t iterations) {
    if (!options.verbose)
        return;
    std::printf("running %s, %lld iterations\n", row.name.c_str(), static_cast<long long>(iterations));
    std::fflush(stdout);
}

/// Finds the number of iterations that takes long enough. If a run fails, adds it to the row.
void chooseIterations(BenchRow& row, BenchOptions const& options) {
    row.iterations = row.benchmark->isOnce ? 1 : options.iterations;
    if (row.iterations > 0)
        return;
    double wanted = options.minTime * 1e9;
    for (std::int64_t n = 1;; row.iterations = n) {
        say(options, row, n);
        BenchmarkClock whole(nullptr);
        whole.open();
        BenchRun run = runOnce(row, n);
        whole.close();
        row.iterations = n;
        if (!run.failure.empty())
            return row.runs.push_back(std::move(run));
        double took = run.spent.*timeOf(row);
        bool isLong = took >= wanted || run.spent.elapsed >= 5 * wanted || whole.spent().elapsed >= kLongestSearch;
        if (isLong || n >= kMostIterations)
            return;
        double factor = std::clamp(1.2 * wanted / std::max(took, 1.0), 1.5, 10.0);
        n = std::min(kMostIterations, static_cast<std::int64_t>(static_cast<double>(n) * factor) + 1);
    }
}

void runAll(std::vector<BenchRow>& rows, BenchOptions const& options) {
    std::vector<BenchRow*> turns;
    for (BenchRow& row : rows) {
        chooseIterations(row, options);
        turns.push_back(&row);
    }
    DeterministicRandom random(1);
    for (int i = 0; i < options.repetitions; ++i) {
        for (std::size_t left = turns.size(); i > 0 && left > 1; --left) // the first repetition keeps the order
            std::swap(turns[left - 1], turns[static_cast<std::size_t>(random.randomInt(0, static_cast<int>(left)))]);
        for (BenchRow* row : turns)
            if (row->failure().empty()) {
                say(options, *row, row->iterations);
                row->runs.push_back(runOnce(*row, row->iterations));
            }
    }
}

std::vector<BenchRow> allRows() {
    std::vector<BenchRow> rows;
    std::set<std::string> known;
    auto add = [&](BenchmarkCase const& benchmark, std::int64_t size, std::string name) {
        if (!known.insert(name).second)
            throw TestUsage("two benchmarks have the name " + name);
        rows.push_back({&benchmark, size, std::move(name)});
    };
    for (BenchmarkCase const& benchmark : Benchmark::cases()) {
        for (std::int64_t size : benchmark.sizes)
            add(benchmark, size, benchmark.name + "/" + std::to_string(size));
        if (benchmark.sizes.empty())
            add(benchmark, 0, benchmark.name);
    }
    return rows;
}

std::vector<BenchRow> selected(BenchOptions const& options) {
    std::vector<BenchRow> rows = allRows();
    for (std::string const& name : options.names)
        if (std::ranges::find(rows, name, &BenchRow::name) == rows.end())
            throw TestUsage("there is no benchmark " + name + "; --list prints their names");
    std::erase_if(rows, [&](BenchRow const& row) {
        bool isNamed = options.names.empty() || std::ranges::find(options.names, row.name) != options.names.end();
        return !isNamed || !anyFilterMatches(options.filters, row.name);
    });
    if (rows.empty())
        throw TestUsage("no benchmark is selected; --list prints their names");
    return rows;
}

void addContext(std::map<std::string, std::string>& context, char const* program) {
    char host[256] = "";
    (void)::gethostname(host, sizeof host - 1);
#ifdef __clang__
    std::string compiler = format("clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    std::string compiler = format("gcc %d.%d.%d", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
    context.insert({{"executable", program},
                    {"host_name", host},
                    {"num_cpus", std::to_string(::sysconf(_SC_NPROCESSORS_ONLN))},
                    {"compiler", compiler},
                    {"loop", onRealLoop ? "real" : "sim"},
                    {"checked", FLOW_CHECKED ? "true" : "false"}});
}

int runBenchmarks(BenchOptions const& options, char const* program, std::map<std::string, std::string> context) {
    std::vector<BenchRow> rows = selected(options);
    if (options.list) {
        for (BenchRow const& row : rows)
            std::printf("%s%s\n", row.name.c_str(), row.benchmark->hasThreads ? "\tthreads" : "");
        return 0;
    }
    std::ofstream json;
    if (!options.jsonFile.empty()) {
        json.open(options.jsonFile);
        if (!json)
            throw TestUsage("--json names a file that cannot be written: " + options.jsonFile);
    }
    runAll(rows, options);
    if (FLOW_CHECKED)
        std::printf("note: this is a checked build, which is slower\n");
    std::printf("%s", tableOf(rows).c_str());
    if (json.is_open()) {
        addContext(context, program);
        json << jsonOf(rows, context);
    }
    return std::ranges::any_of(rows, [](BenchRow const& row) { return !row.failure().empty(); });
}

} // namespace
} // namespace testing

bool benchOnRealLoop() {
    return testing::onRealLoop;
}

int benchMain(int argc, char const* const* argv, std::map<std::string, std::string> context) {
    try {
        BenchOptions options = parseBenchOptions(argc, argv);
        if (options.help) {
            std::printf("%s", benchUsage().c_str());
            return 0;
        }
        testing::onRealLoop = options.realLoop;
        sampleIfAsked(); // a simulated loop does not call it
        return testing::runBenchmarks(options, argc > 0 ? argv[0] : "benchmarks", std::move(context));
    } catch (TestUsage& usage) {
        std::fprintf(stderr, "%s: %s\n", argc > 0 ? argv[0] : "benchmarks", usage.what());
        return 2;
    }
}

} // namespace flow
