#include "flow/diag/detail/actor_name.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace flow {
namespace {

using Text = std::string_view;

constexpr Text kMachine = "flow::actor::Actor<";
constexpr Text kFiber = "::resumeFiber<";
constexpr Text kAnonymous = "(anonymous namespace)";

/// Calls visit(i) for the index of each character outside of all brackets, until visit() returns false.
template <class Visit>
void outside(Text text, Visit visit) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == ')' || c == '>' || c == '}' || c == ']')
            --depth;
        else if (depth == 0 && !visit(i))
            return;
        if (c == '(' || c == '<' || c == '{' || c == '[')
            ++depth;
    }
}

/// Returns the second argument in `text`, which begins after the "<" of a template's arguments; empty if there is none.
Text secondArgument(Text text) {
    std::size_t from = Text::npos, to = text.size();
    outside(text, [&](std::size_t i) {
        if (text[i] != ',')
            return true;
        if (from == Text::npos) {
            from = i + 1;
            return true;
        }
        to = i;
        return false;
    });
    if (from == Text::npos)
        return {};
    Text argument = text.substr(from, to - from);
    argument.remove_prefix(std::min(argument.find_first_not_of(' '), argument.size()));
    return argument;
}

/// Returns `text` without the parameters and qualifiers at its end.
Text withoutParameters(Text text) {
    text = text.substr(0, text.find(" [clone"));
    for (Text suffix : {"[abi:cxx11]", " &&", " &", " const"})
        if (text.ends_with(suffix))
            text.remove_suffix(suffix.size());
    if (!text.ends_with(')') || text.ends_with(kAnonymous))
        return text;
    int depth = 0;
    for (std::size_t i = text.size(); i-- > 0;) {
        depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
        if (depth == 0)
            return i == 0 ? text : text.substr(0, i);
    }
    return text;
}

/// Returns `name` without template arguments, which gcc leaves out of the names of coroutines.
Text withoutArguments(Text name) {
    return name.starts_with("operator") ? name : name.substr(0, name.find('<'));
}

/// Returns `text` without the result type. Only the symbols of templates begin with a result type.
Text withoutResult(Text text) {
    std::size_t start = 0;
    outside(text, [&](std::size_t i) {
        if (text[i] == ' ' &&
            !text.substr(i).starts_with(" const::")) // the blank in `f() const::Lambda` is part of the name
            start = i + 1;
        return true;
    });
    return text.substr(start);
}

std::vector<Text> components(Text text) {
    std::vector<Text> parts;
    std::size_t from = 0;
    outside(text, [&](std::size_t i) {
        if (i >= from && text.substr(i, 2) == "::") {
            parts.push_back(text.substr(from, i - from));
            from = i + 2;
        }
        return true;
    });
    parts.push_back(text.substr(from));
    return parts;
}

/// Returns "Fetch" for "FetchActor2State<int>"; empty if `name` has another form.
Text stemOf(Text name, Text suffix) {
    name = withoutArguments(name);
    if (!name.ends_with(suffix))
        return {};
    name.remove_suffix(suffix.size());
    while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back())))
        name.remove_suffix(1);
    return name.ends_with("Actor") ? name.substr(0, name.size() - 5) : Text();
}

std::string sourceName(Text stem, std::function<bool(std::string const&)> const& hasFunction) {
    std::string name(stem);
    if (hasFunction(name))
        return name;
    name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
    return name;
}

std::string join(std::vector<Text> const& parts) {
    std::string name;
    for (Text part : parts)
        if (part != kAnonymous)
            name += (name.empty() ? "" : "::") + std::string(part);
    return name;
}

std::string ofMachine(Text state, std::function<bool(std::string const&)> const& hasFunction) {
    std::vector<Text> parts = components(state);
    Text stem = stemOf(parts.back(), "State");
    if (stem.empty())
        return std::string(state);
    parts.pop_back();
    if (!parts.empty() && parts.back().ends_with(')') && parts.back() != kAnonymous) {
        parts.back() = withoutParameters(parts.back()); // the state is a class inside the actor's function
        return join(parts);
    }
    std::string name = sourceName(stem, hasFunction);
    parts.push_back(name);
    return join(parts);
}

std::string ofFunction(Text symbol, std::function<bool(std::string const&)> const& hasFunction) {
    Text text = withoutResult(withoutParameters(symbol));
    std::vector<Text> parts = components(text);
    std::size_t count = parts.size();
    Text last = withoutArguments(parts.back());
    if (count > 1 && (last == "a_body" || last == "a_packs") && !stemOf(parts[count - 2], "State").empty())
        return ofMachine(text.substr(0, text.size() - parts.back().size() - 2), hasFunction);
    if (count > 2 && parts[count - 1] == "run" && !stemOf(parts[count - 2], "").empty()) {
        parts.resize(count - 2); // the class is inside the actor's function
        parts.back() = withoutParameters(parts.back());
    }
    parts.back() = withoutArguments(parts.back());
    return join(parts);
}

} // namespace

bool isFunctionNamed(std::string const& symbol, std::string const& name) {
    std::vector<Text> parts = components(withoutResult(withoutParameters(symbol)));
    Text last = withoutArguments(parts.back());
    bool isConstructor = parts.size() > 1 && parts[parts.size() - 2] == last;
    return last == name && !isConstructor;
}

std::string actorName(std::string const& symbol, std::function<bool(std::string const&)> const& hasFunction) {
    Text text = symbol;
    if (std::size_t at = text.find(kFiber); at != Text::npos && text.starts_with("void flow::fiber::")) {
        Text arguments = withoutParameters(text.substr(at + kFiber.size()));
        if (Text function = secondArgument(arguments.substr(0, arguments.rfind('>'))); !function.empty())
            return join(components(function)); // the argument of spawn()
    }
    if (!text.starts_with(kMachine))
        return ofFunction(text, hasFunction);
    Text state = secondArgument(text.substr(kMachine.size()));
    return state.empty() ? symbol : ofMachine(state, hasFunction);
}

} // namespace flow
