#include "flow/testing/detail/options.h"

#include "flow/base/format.h"
#include "flow/base/parse_number.h"

#include <algorithm>
#include <functional>
#include <span>

namespace flow {
namespace {

struct Option {
    char const* name;
    char const* value; // null: the option takes no value
    char const* help;
    void (*apply)(TestOptions&, std::string const& value);
    bool repeat; // part of the command that runs a test again
};

template <class Number>
Number number(std::string const& text, char const* what, Number least) {
    if (auto value = parseNumber<Number>(text); value && *value >= least)
        return *value;
    throw TestUsage(format("%s, not '%s'", what, text.c_str()));
}

void setParameter(TestOptions& options, std::string const& text) {
    std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw TestUsage("--param takes NAME=VALUE, not '" + text + "'");
    options.parameters.set(text.substr(0, equals), text.substr(equals + 1));
}

constexpr Option kOptions[] = {
    {"--help", nullptr, "prints this", [](TestOptions& o, std::string const&) { o.help = true; }, false},
    {"--list", nullptr, "prints the names of the tests, and runs none",
     [](TestOptions& o, std::string const&) { o.list = true; }, false},
    {"--filter", "TEXT", "runs tests with a name that contains TEXT, or matches it if it has * or ?; may be repeated",
     [](TestOptions& o, std::string const& value) { o.filters.push_back(value); }, false},
    {"--seed", "N", "random numbers of the run; chosen and printed if not given",
     [](TestOptions& o, std::string const& v) { o.seed = number<std::uint64_t>(v, "--seed takes a number", 0); },
     false},
    {"--sim", nullptr, "loops on virtual time (this is the default)",
     [](TestOptions& o, std::string const&) { o.realLoop = false; }, true},
    {"--real", nullptr, "loops on the machine's clock", [](TestOptions& o, std::string const&) { o.realLoop = true; },
     true},
    {"--param", "NAME=VALUE", "a parameter that tests can read; may be repeated", setParameter, true},
    {"--data-dir", "PATH", "where tests put their files; the current directory if not given",
     [](TestOptions& o, std::string const& value) { o.parameters.setDataDir(value); }, true},
    {"--timeout", "SECONDS", "of its loop's time a test may take; 3600 if not given, or 60 with --real",
     [](TestOptions& o, std::string const& v) { o.timeout = number<double>(v, "--timeout takes seconds", 0); }, true},
    {"--limit", "SECONDS", "of the machine's time a test may take before the program is ended; 300 if not given",
     [](TestOptions& o, std::string const& v) { o.limit = number<int>(v, "--limit takes whole seconds", 1); }, true},
    {"--trace", "FILE", "appends the trace events of the tests to FILE",
     [](TestOptions& o, std::string const& v) { o.traceFile = v; }, false},
    {"--twice", nullptr, "runs each test twice with one seed, and fails it if the runs differ",
     [](TestOptions& o, std::string const&) { o.twice = true; }, true},
};

/// Returns the number of letters to add, leave out or exchange to turn one word into the other.
std::size_t distance(std::string const& a, std::string const& b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t i = 0; i <= b.size(); ++i)
        row[i] = i;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t k = 1; k <= b.size(); ++k) {
            std::size_t exchanged = diagonal + (a[i - 1] != b[k - 1]);
            diagonal = row[k];
            row[k] = std::min({row[k] + 1, row[k - 1] + 1, exchanged});
        }
    }
    return row[b.size()];
}

Option const& findOption(std::string const& name) {
    for (Option const& option : kOptions)
        if (name == option.name)
            return option;
    auto closer = [&](Option const& a, Option const& b) { return distance(name, a.name) < distance(name, b.name); };
    Option const& closest = *std::min_element(std::begin(kOptions), std::end(kOptions), closer);
    std::string hint = distance(name, closest.name) <= 3 ? format("did you mean %s?", closest.name)
                       : name.starts_with("-")           ? std::string("--help lists the options")
                                                         : "to choose tests, write --filter " + name;
    throw TestUsage("unknown option " + name + "\nhint: " + hint);
}

bool globMatches(char const* pattern, char const* text) {
    if (*pattern == '*')
        return globMatches(pattern + 1, text) || (*text != '\0' && globMatches(pattern, text + 1));
    if (*text == '\0' || *pattern == '\0')
        return *text == *pattern;
    return (*pattern == '?' || *pattern == *text) && globMatches(pattern + 1, text + 1);
}

} // namespace

TestOptions parseTestOptions(int argc, char const* const* argv) {
    TestOptions options;
    options.program = argc > 0 ? argv[0] : "tests";
    for (int i = 1; i < argc; ++i) {
        std::string argument = argv[i];
        std::size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
        std::string name = argument.substr(0, equals); // without this variable gcc 14 warns of a dangling reference
        Option const& option = findOption(name);
        std::string value;
        if (option.value && equals != std::string::npos)
            value = argument.substr(equals + 1);
        else if (option.value && i + 1 < argc)
            value = argv[++i];
        else if (option.value)
            throw TestUsage(format("%s needs a value: %s %s", option.name, option.name, option.value));
        else if (equals != std::string::npos)
            throw TestUsage(format("%s takes no value", option.name));
        option.apply(options, value);
        if (!option.repeat)
            continue;
        options.rerun.push_back(option.name);
        if (option.value)
            options.rerun.push_back(value);
    }
    return options;
}

std::string testUsage() {
    std::string text = "Runs the tests of this program. Each has a loop of its own.\n\n";
    for (Option const& option : kOptions) {
        std::string head = std::string(option.name) + (option.value ? std::string(" ") + option.value : "");
        text += format("  %-20s  %s\n", head.c_str(), option.help);
    }
    return text + "\nExit code 0: all passed. 1: some failed. 2: wrong usage, or no test was selected.\n";
}

bool filterMatches(std::string const& filter, std::string const& name) {
    if (filter.find_first_of("*?") == std::string::npos)
        return name.find(filter) != std::string::npos;
    return globMatches(filter.c_str(), name.c_str());
}

bool anyFilterMatches(std::vector<std::string> const& filters, std::string const& name) {
    return filters.empty() ||
           std::any_of(filters.begin(), filters.end(), [&](auto& filter) { return filterMatches(filter, name); });
}

} // namespace flow
