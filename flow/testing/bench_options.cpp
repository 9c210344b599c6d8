#include "flow/testing/detail/bench_options.h"

namespace flow {
namespace {

bool isReal(std::string const& loop) {
    if (loop != "sim" && loop != "real")
        throw TestUsage("--loop takes sim or real, not '" + loop + "'");
    return loop == "real";
}

constexpr Option<BenchOptions> kOptions[] = {
    {{"--help", nullptr, "prints this"}, [](BenchOptions& o, std::string const&) { o.help = true; }},
    {{"--list", nullptr, "prints the names of the benchmarks, and runs none"},
     [](BenchOptions& o, std::string const&) { o.list = true; }},
    {{"--filter", "TEXT", "runs what has a name that contains TEXT, or matches it if it has * or ?; may be repeated"},
     [](BenchOptions& o, std::string const& v) { o.filters.push_back(v); }},
    {{"--case", "NAME", "runs the benchmark with exactly this name; may be repeated"},
     [](BenchOptions& o, std::string const& v) { o.names.push_back(v); }},
    {{"--loop", "KIND", "sim: loops on virtual time (this is the default); real: on the machine's clock"},
     [](BenchOptions& o, std::string const& v) { o.realLoop = isReal(v); }},
    {{"--min-time", "SECONDS", "of each repetition, at least; 0.1 if not given"},
     [](BenchOptions& o, std::string const& v) {
         o.minTime = optionNumber<double>(v, "--min-time takes seconds, 0 or more", 0);
     }},
    {{"--repetitions", "N", "of each benchmark, all of them in turn; 5 if not given"},
     [](BenchOptions& o, std::string const& v) {
         o.repetitions = optionNumber<int>(v, "--repetitions takes a number, 1 or more", 1);
     }},
    {{"--iterations", "N", "n is N, or a benchmark with a size runs N times; no search for a number that takes long"},
     [](BenchOptions& o, std::string const& v) {
         o.iterations = optionNumber<std::int64_t>(v, "--iterations takes a number, 1 or more", 1);
     }},
    {{"--json", "FILE", "writes all results to FILE, in the format of Google Benchmark"},
     [](BenchOptions& o, std::string const& v) { o.jsonFile = v; }},
    {{"--verbose", nullptr, "prints a line before each run"},
     [](BenchOptions& o, std::string const&) { o.verbose = true; }},
};

} // namespace

BenchOptions parseBenchOptions(int argc, char const* const* argv) {
    BenchOptions options;
    applyOptions(argc, argv, kOptions, "benchmarks", options);
    return options;
}

std::string benchUsage() {
    return "Runs the benchmarks of this program.\n\n" + helpOf(headsOf(kOptions)) +
           "\nExit code 0: all ran. 1: some failed. 2: wrong usage, or no benchmark was selected.\n";
}

} // namespace flow
