#include "flow/trace/event_text.h"

#include "flow/trace/levels.h"

#include <charconv>

namespace flow::trace {
namespace {

/// Removes the JSON value at the start of `rest`, and returns it.
std::string_view takeValue(std::string_view& rest) {
    std::size_t end = 0;
    if (rest.starts_with('"')) {
        for (end = 1; end < rest.size() && rest[end] != '"'; ++end)
            end += rest[end] == '\\';
        ++end;
    } else {
        end = rest.find_first_of(",}");
    }
    std::string_view value = rest.substr(0, end);
    rest.remove_prefix(value.size());
    return value;
}

std::string_view withoutQuotes(std::string_view value) {
    bool isString = value.size() > 2 && value.starts_with('"');
    if (!isString || value.find_first_of(" \\=") != value.npos)
        return value;
    return value.substr(1, value.size() - 2);
}

char const* nameOfSeverity(std::string_view number) {
    int severity = 0;
    std::from_chars(number.data(), number.data() + number.size(), severity);
    return severity >= SevError ? "ERROR" : severity >= SevWarn ? "WARN " : severity >= SevInfo ? "INFO " : "DEBUG";
}

} // namespace

void appendEventText(std::string& out, std::string_view line) {
    if (!line.starts_with(R"({"DateTime":)")) {
        out += line;
        return;
    }
    std::string_view rest = line.substr(1), area;
    for (bool isHead = true; rest.starts_with('"');) {
        std::string_view key = withoutQuotes(takeValue(rest));
        rest.remove_prefix(rest.starts_with(':'));
        std::string_view value = withoutQuotes(takeValue(rest));
        rest.remove_prefix(rest.starts_with(','));
        if (isHead && key == "Time")
            continue;
        if (isHead && key == "Area") {
            area = value;
            continue;
        }
        if (key != "DateTime")
            out += ' ';
        if (isHead && key == "Severity") {
            out += nameOfSeverity(value);
            if (!area.empty())
                (out += ' ') += area;
            continue;
        }
        if (!isHead)
            out.append(key) += '=';
        out += value;
        if (key == "Type")
            isHead = false;
    }
}

} // namespace flow::trace
