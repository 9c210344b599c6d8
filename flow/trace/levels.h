#pragma once
// TraceLevels: the lowest severity of the trace events that are written, for all areas and for single areas.
//
//     TraceFile trace("server.json", "info,net=debug,net/tls=off");
//     trace.setLevels(SevWarn);
//
// The words are debug, info, warn, error and off, alone or as AREA=LEVEL. A later word replaces an earlier one. An area
// has the level of the longest word that is its name or a folder above it: "net" also holds for "net/tls".
//
// The area of an event is the folder of its source: "net/tls" for a source of Millrace, or for a path that the compiler
// was given relative to its working directory. For another absolute path, it is only the last folder: "db" for
// /home/me/shop/src/db/table.cpp, or "src/db" with `-fmacro-prefix-map=/home/me/shop/=`. A program can name an area:
//
//     constexpr TraceArea kBilling("shop/billing");
//     TraceEvent(kBilling, SevInfo, "Paid").detail("Amount", amount);

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flow {

enum Severity : int { SevDebug = 5, SevInfo = 10, SevWarn = 20, SevWarnAlways = 30, SevError = 40 };

/// The name of an area, which is not copied: use a literal.
class TraceArea {
public:
    explicit constexpr TraceArea(std::string_view name) : name_(name) {}
    constexpr std::string_view name() const { return name_; }

private:
    std::string_view name_;
};

class TraceLevels {
public:
    TraceLevels(Severity all = SevInfo) : all_(all), minimum_(all) {}
    /// Throws invalid_option_value, with a text that has the wrong word. Areas without a level have SevInfo.
    TraceLevels(std::string_view text);
    TraceLevels(char const* text) : TraceLevels(std::string_view(text)) {}

    /// Adds one word. Returns false, and changes nothing, if the word is wrong.
    bool add(std::string_view word);
    /// Returns the lowest severity that is written for this area.
    int of(std::string_view area) const noexcept;
    /// Returns the lowest severity that is written for any area.
    int minimum() const noexcept { return minimum_; }

private:
    int all_;
    int minimum_;
    std::vector<std::pair<std::string, int>> areas_;
};

namespace trace {
/// Returns the area of a source with the path `file`, as a part of `file`; empty if the path has no folder.
std::string_view areaOf(std::string_view file) noexcept;
/// Returns the non-empty parts between the commas of a text, without blanks around them.
std::vector<std::string_view> wordsOf(std::string_view text);
} // namespace trace

} // namespace flow
