#include "flow/testing/detail/options.h"

#include "flow/testing/detail/option_table.h"

#include <algorithm>
#include <string_view>

namespace flow {
namespace {

void setParameter(TestOptions& options, std::string const& text) {
    std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw TestUsage("--param takes NAME=VALUE, not '" + text + "'");
    options.parameters.set(text.substr(0, equals), text.substr(equals + 1));
}

constexpr Option<TestOptions> kOptions[] = {
    {{"--help", nullptr, "prints this"}, [](TestOptions& o, std::string const&) { o.help = true; }},
    {{"--list", nullptr, "prints the names of the tests, and runs none"},
     [](TestOptions& o, std::string const&) { o.list = true; }},
    {{"--filter", "TEXT", "runs tests with a name that contains TEXT, or matches it if it has * or ?; may be repeated"},
     [](TestOptions& o, std::string const& value) { o.filters.push_back(value); }},
    {{"--seed", "N", "random numbers of the run; chosen and printed if not given"},
     [](TestOptions& o, std::string const& v) { o.seed = optionNumber<std::uint64_t>(v, "--seed takes a number", 0); }},
    {{"--sim", nullptr, "loops on virtual time (this is the default)"},
     [](TestOptions& o, std::string const&) { o.realLoop = false; }},
    {{"--real", nullptr, "loops on the machine's clock"},
     [](TestOptions& o, std::string const&) { o.realLoop = true; }},
    {{"--param", "NAME=VALUE", "a parameter that tests can read; may be repeated"}, setParameter},
    {{"--data-dir", "PATH", "where tests put their files; the current directory if not given"},
     [](TestOptions& o, std::string const& value) { o.parameters.setDataDir(value); }},
    {{"--timeout", "SECONDS", "of its loop's time a test may take; 3600 if not given, or 60 with --real"},
     [](TestOptions& o, std::string const& v) { o.timeout = optionNumber<double>(v, "--timeout takes seconds", 0); }},
    {{"--limit", "SECONDS", "of the machine's time a test may take before the program is ended; 300 if not given"},
     [](TestOptions& o, std::string const& v) { o.limit = optionNumber<int>(v, "--limit takes whole seconds", 1); }},
    {{"--trace", "FILE", "appends the trace events of the tests to FILE"},
     [](TestOptions& o, std::string const& v) { o.traceFile = v; }},
    {{"--twice", nullptr, "runs each test twice with one seed, and fails it if the runs differ"},
     [](TestOptions& o, std::string const&) { o.twice = true; }},
};

// The command that repeats a test has these options, besides --seed and --filter.
constexpr std::string_view kRepeated[] = {"--sim",     "--real",  "--param", "--data-dir",
                                          "--timeout", "--limit", "--twice"};

} // namespace

TestOptions parseTestOptions(int argc, char const* const* argv) {
    TestOptions options;
    options.program = argc > 0 ? argv[0] : "tests";
    for (GivenOption const& given : applyOptions(argc, argv, kOptions, "tests", options)) {
        Option<TestOptions> const& option = kOptions[given.index];
        if (std::ranges::find(kRepeated, option.name) == std::end(kRepeated))
            continue;
        options.rerun.push_back(option.name);
        if (option.value)
            options.rerun.push_back(given.value);
    }
    return options;
}

std::string testUsage() {
    return "Runs the tests of this program. Each has a loop of its own.\n\n" + helpOf(headsOf(kOptions)) +
           "\nExit code 0: all passed. 1: some failed. 2: wrong usage, or no test was selected.\n";
}

} // namespace flow
