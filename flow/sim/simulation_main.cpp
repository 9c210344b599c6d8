// The main function for simulations. Runs a simulation for each seed of a range, twice unless --once is given. Prints a
// line of JSON for each seed, and at the end the failed seeds, with a command that runs the first of them alone.

#include "flow/sim/simulation.h"

#include "flow/base/format.h"
#include "flow/trace/code_probe.h"
#include "flow/trace/detail/json.h"
#include "flow/trace/sink.h"

#include <cstdio>
#include <map>
#include <stdexcept>
#include <string_view>

namespace flow {
namespace {

constexpr const char* kUsage =
    "usage: %s --list\n"
    "       %s --run NAME --seeds FIRST..LAST [--once] [--only FAULTS] [--without FAULTS] [--trace FILE]\n"
    "\n"
    "Prints a line of JSON for each seed, before and after it, and at the end on standard error which seeds failed.\n"
    "--once: does not run each seed a second time. --trace: appends the trace events of all runs.\n"
    "--only, --without: leave out faults, which are named as in clog:0,clog:4..6,diskFull: by their kind, and by\n"
    "their number among those of their kind; '' names none.\n"
    "The exit code is 1 if a seed has failed, and 2 for a wrong command line.\n";

struct Options {
    bool help = false, list = false, once = false;
    Simulation const* simulation = nullptr;
    NumberRange seeds;
    FaultFilter filter;
    std::string faults; // the options --only and --without as they were given
    std::string trace;
};

Options parse(int argc, char const* const* argv) {
    Options options;
    bool hasSeeds = false;
    for (int i = 1; i < argc; ++i) {
        std::string_view name = argv[i];
        if (name == "--help" || name == "-h") {
            options.help = true;
            return options;
        }
        if (name == "--list") {
            options.list = true;
            continue;
        }
        if (name == "--once") {
            options.once = true;
            continue;
        }
        if (i + 1 == argc)
            throw std::invalid_argument("what is '" + std::string(name) + "', or what is its value?");
        std::string_view value = argv[++i];
        if (name == "--run") {
            options.simulation = Simulation::find(std::string(value));
            if (!options.simulation)
                throw std::invalid_argument("no simulation of the name '" + std::string(value) + "': see --list");
        } else if (name == "--seeds") {
            options.seeds = NumberRange::parse(value);
            hasSeeds = true;
        } else if (name == "--only" || name == "--without") {
            if (name == "--only")
                options.filter.only = SomeFaults::parse(value);
            else
                options.filter.without = SomeFaults::parse(value);
            options.faults += format(" %s '%s'", argv[i - 1], argv[i]);
        } else if (name == "--trace") {
            options.trace = value;
        } else {
            throw std::invalid_argument("no such option: '" + std::string(name) + "'");
        }
    }
    if (!options.list && (!options.simulation || !hasSeeds))
        throw std::invalid_argument("--run and --seeds are needed, or --list");
    return options;
}

using Hits = std::map<std::string, std::uint64_t>;

/// Returns the number of hits of each probe of the program.
Hits probeHits() {
    Hits hits;
    for (CodeProbe const* probe : CodeProbe::all())
        hits[format("%s:%d %s", probe->file(), probe->line(), probe->comment())] += probe->hits();
    return hits;
}

std::string quoted(std::string_view text) {
    std::string json;
    appendJsonString(json, text);
    return json;
}

std::string toJson(SimulationResult const& result, Hits const& before) {
    std::string line =
        format(R"({"seed":%llu,"digest":"%016llx","events":%llu,"seconds":%.17g,"faults":{)",
               static_cast<unsigned long long>(result.seed), static_cast<unsigned long long>(result.digest),
               static_cast<unsigned long long>(result.events), result.seconds);
    const char* separator = "";
    for (std::size_t i = 0; i < kFaultKinds; ++i)
        if (std::uint64_t count = result.faults[FaultKind(i)]) {
            line += separator + quoted(faultName(FaultKind(i))) + ":" + std::to_string(count);
            separator = ",";
        }
    line += "},\"injected\":" + quoted(result.injected.toString()) + ",\"probes\":[";
    separator = "";
    for (auto const& [probe, hits] : probeHits()) {
        auto place = before.find(probe);
        if (hits != (place == before.end() ? 0 : place->second)) {
            line += separator + quoted(probe);
            separator = ",";
        }
    }
    line += "],\"failure\":";
    if (result.failure)
        line +=
            "{\"signature\":" + quoted(result.failure->signature) + ",\"text\":" + quoted(result.failure->text) + "}";
    else
        line += "null";
    return line + "}";
}

void list() {
    for (Simulation const* each : Simulation::all())
        std::printf("{\"name\":%s,\"limit\":%g}\n", quoted(each->name).c_str(), each->limit);
    for (auto const& [probe, hits] : probeHits())
        std::printf("{\"probe\":%s}\n", quoted(probe).c_str());
    for (std::size_t i = 0; i < kFaultKinds; ++i)
        std::printf("{\"fault\":%s}\n", quoted(faultName(FaultKind(i))).c_str());
}

std::optional<SimulationFailure> runSeed(Options const& options, std::uint64_t seed) {
    std::printf("{\"begin\":%llu}\n", static_cast<unsigned long long>(seed));
    std::fflush(stdout);
    Hits before = probeHits();
    std::optional<TraceFile> trace;
    if (!options.trace.empty())
        trace.emplace(options.trace);
    SimulationResult result = options.once ? simulate(*options.simulation, seed, options.filter)
                                           : simulateTwice(*options.simulation, seed, options.filter);
    std::printf("%s\n", toJson(result, before).c_str());
    std::fflush(stdout);
    return result.failure;
}

/// Prints the seeds that have failed, and the command that runs the first of them alone.
void reportFailures(char const* program, Options const& options, std::uint64_t runs,
                    std::map<std::uint64_t, SimulationFailure> const& failures) {
    constexpr std::size_t kMostShown = 10;
    std::fprintf(stderr, "%zu of %llu failed:\n", failures.size(), static_cast<unsigned long long>(runs));
    std::size_t shown = 0;
    for (auto const& [seed, failure] : failures) {
        if (++shown > kMostShown) {
            std::fprintf(stderr, "  and %zu more\n", failures.size() - kMostShown);
            break;
        }
        std::string line = failure.text.substr(0, failure.text.find('\n'));
        std::fprintf(stderr, "  seed %llu: %s\n", static_cast<unsigned long long>(seed), line.c_str());
    }
    std::fprintf(stderr, "  again: %s --run '%s' --seeds %llu%s\n", program, options.simulation->name,
                 static_cast<unsigned long long>(failures.begin()->first), options.faults.c_str());
}

} // namespace

int simulationMain(int argc, char const* const* argv) {
    Options options;
    try {
        options = parse(argc, argv);
    } catch (std::invalid_argument const& usage) {
        std::fprintf(stderr, "%s: %s\n\n", argv[0], usage.what());
        std::fprintf(stderr, kUsage, argv[0], argv[0]);
        return 2;
    }
    if (options.help) {
        std::printf(kUsage, argv[0], argv[0]);
        return 0;
    }
    if (options.list) {
        list();
        return 0;
    }
    std::map<std::uint64_t, SimulationFailure> failures;
    std::uint64_t runs = 0;
    try {
        for (std::uint64_t seed = options.seeds.first;; ++seed) {
            ++runs;
            if (auto failure = runSeed(options, seed))
                failures.emplace(seed, *failure);
            if (seed == options.seeds.last)
                break;
        }
    } catch (Error const& error) {
        std::fprintf(stderr, "%s: cannot write the trace file: %s\n", argv[0], error.what());
        return 2;
    }
    if (failures.empty())
        return 0;
    reportFailures(argv[0], options, runs, failures);
    return 1;
}

} // namespace flow
