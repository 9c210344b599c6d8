#include "flow/testing/detail/option_table.h"

#include <algorithm>

namespace flow {
namespace {

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

std::size_t findOption(std::string const& name, std::vector<OptionHead> const& table, char const* what) {
    for (std::size_t i = 0; i < table.size(); ++i)
        if (name == table[i].name)
            return i;
    auto closer = [&](auto& a, auto& b) { return distance(name, a.name) < distance(name, b.name); };
    OptionHead const& closest = *std::min_element(table.begin(), table.end(), closer);
    std::string hint = distance(name, closest.name) <= 3 ? format("did you mean %s?", closest.name)
                       : name.starts_with("-")           ? std::string("--help lists the options")
                                               : format("to choose %s, write --filter %s", what, name.c_str());
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

std::vector<GivenOption> givenOptions(int argc, char const* const* argv, std::vector<OptionHead> const& table,
                                      char const* what) {
    std::vector<GivenOption> given;
    for (int i = 1; i < argc; ++i) {
        std::string argument = argv[i];
        std::size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
        std::string name = argument.substr(0, equals); // without this variable gcc 14 warns of a dangling reference
        std::size_t index = findOption(name, table, what);
        OptionHead const& option = table[index];
        std::string value;
        if (option.value && equals != std::string::npos)
            value = argument.substr(equals + 1);
        else if (option.value && i + 1 < argc)
            value = argv[++i];
        else if (option.value)
            throw TestUsage(format("%s needs a value: %s %s", option.name, option.name, option.value));
        else if (equals != std::string::npos)
            throw TestUsage(format("%s takes no value", option.name));
        given.push_back({index, value});
    }
    return given;
}

std::string helpOf(std::vector<OptionHead> const& table) {
    std::string text;
    for (OptionHead const& option : table) {
        std::string head = std::string(option.name) + (option.value ? std::string(" ") + option.value : "");
        text += format("  %-20s  %s\n", head.c_str(), option.help);
    }
    return text;
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
