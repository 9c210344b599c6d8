#pragma once
// The command line of a program that is described by a table of options.
//
//     constexpr Option<Chosen> kOptions[] = {
//         {"--list", nullptr, "prints the names", [](Chosen& c, std::string const&) { c.list = true; }},
//         {"--seed", "N", "of random numbers", [](Chosen& c, std::string const& v) { c.seed = number(v, "...", 0); }}};
//     applyOptions(argc, argv, kOptions, chosen);             // throws TestUsage
//     std::string help = helpOf(kOptions);
//
// An option is `--name value` or `--name=value`.

#include "flow/base/format.h"
#include "flow/base/parse_number.h"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace flow {

/// The error for a wrong command line. what() says what is wrong, in one or two lines.
struct TestUsage : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct OptionHead {
    char const* name;
    char const* value; // null: the option takes no value
    char const* help;
};

template <class Chosen>
struct Option : OptionHead {
    void (*apply)(Chosen&, std::string const& value);
};

struct GivenOption {
    std::size_t index; // in the table
    std::string value;
};

/// Throws TestUsage. `what` is the thing that an argument without `--` chooses: "tests".
std::vector<GivenOption> givenOptions(int argc, char const* const* argv, std::vector<OptionHead> const& table,
                                      char const* what);
/// Returns a line for each option.
std::string helpOf(std::vector<OptionHead> const& table);

template <class Chosen, std::size_t count>
std::vector<OptionHead> headsOf(Option<Chosen> const (&table)[count]) {
    return {std::begin(table), std::end(table)};
}

/// Applies the options in the order of the command line, and returns them.
template <class Chosen, std::size_t count>
std::vector<GivenOption> applyOptions(int argc, char const* const* argv, Option<Chosen> const (&table)[count],
                                      char const* what, Chosen& chosen) {
    std::vector<GivenOption> given = givenOptions(argc, argv, headsOf(table), what);
    for (GivenOption const& option : given)
        table[option.index].apply(chosen, option.value);
    return given;
}

/// Reads the value of an option. `rule` says which values it takes: "--seed takes a number".
template <class Number>
Number optionNumber(std::string const& text, char const* rule, Number least) {
    if (auto value = parseNumber<Number>(text); value && *value >= least)
        return *value;
    throw TestUsage(format("%s, not '%s'", rule, text.c_str()));
}

/// Returns true if `filter` selects `name`. A filter with `*` or `?` must match all of `name`. Others match a part.
bool filterMatches(std::string const& filter, std::string const& name);
/// Returns true if there are no filters, or if one of them selects `name`.
bool anyFilterMatches(std::vector<std::string> const& filters, std::string const& name);

} // namespace flow
