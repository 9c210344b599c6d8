#include "flow/trace/metrics.h"

#include "flow/base/assert.h"
#include "flow/base/to_text.h"
#include "flow/trace/loop_metrics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string_view>

namespace flow::metrics {
namespace {

constinit thread_local Metric* first = nullptr; // the newest metric of this thread

/// Returns true if `name` is an identifier as in C. It may also have the characters of `also`.
bool isName(std::string_view name, std::string_view also = "") {
    auto fits = [also](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_' ||
               (letter >= '0' && letter <= '9') || also.find(letter) != also.npos;
    };
    return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::ranges::all_of(name, fits);
}

void addLine(Lines& lines, std::string line, double value) {
    for (auto& [known, sum] : lines)
        if (known == line) {
            sum += value;
            return;
        }
    lines.emplace_back(std::move(line), value);
}

} // namespace

Metric::Metric(std::string theName, std::string theHelp, Labels const& labels, char const* type)
    : name(std::move(theName)), help(std::move(theHelp)), next(first), place_(&first) {
    FLOW_ASSERT(isName(name, ":"), "a metric's name has letters, digits, _ and :, and does not begin with a digit");
    for (auto const& [key, value] : labels) {
        FLOW_ASSERT(isName(key), "a label's name has letters, digits and _, and does not begin with a digit");
        FLOW_ASSERT(std::ranges::count(labels, key, &Labels::value_type::first) == 1, "a metric has a label twice");
        labels_ += (labels_.empty() ? "" : ",") + prometheusLabel(key, value);
    }
    for (Metric* other = first; other; other = other->next)
        FLOW_ASSERT(other->name != name || std::strcmp(other->type(), type) == 0,
                    "two metrics of different kinds have one name");
    first = this;
    if (next)
        next->place_ = &next;
}

Metric::~Metric() {
    *place_ = next;
    if (next)
        next->place_ = place_;
}

std::string Metric::line(char const* suffix, std::string const& more) const {
    std::string out = name + suffix;
    if (labels_.empty() && more.empty())
        return out;
    return out + '{' + labels_ + (labels_.empty() || more.empty() ? "" : ",") + more + '}';
}

void Counter::addTo(Lines& lines) const {
    addLine(lines, line(""), static_cast<double>(value_));
}

void Gauge::addTo(Lines& lines) const {
    addLine(lines, line(""), value_);
}

Histogram::Histogram(std::string name, std::string help, std::vector<double> bounds, Labels const& labels)
    : Metric(std::move(name), std::move(help), labels, "histogram"), bounds_(std::move(bounds)),
      counts_(bounds_.size()) {
    FLOW_ASSERT(std::ranges::adjacent_find(bounds_, std::greater_equal<>()) == bounds_.end(),
                "a histogram's bounds do not rise");
    FLOW_ASSERT(std::ranges::all_of(bounds_, [](double bound) { return std::isfinite(bound); }),
                "a histogram's bounds are finite: what is above the last is counted too");
    FLOW_ASSERT(std::ranges::find(labels, "le", &Labels::value_type::first) == labels.end(),
                "the label le of a histogram has its bounds");
    for (Metric const* other = next; other; other = other->next)
        FLOW_ASSERT(!isOneLineWith(*other) || static_cast<Histogram const*>(other)->bounds_ == bounds_,
                    "two histograms with one name and the same labels have different bounds");
}

void Histogram::observe(double value) {
    auto bound = std::isnan(value) ? bounds_.end() : std::ranges::lower_bound(bounds_, value);
    if (bound != bounds_.end())
        ++counts_[static_cast<std::size_t>(bound - bounds_.begin())];
    ++count_;
    sum_ += value;
}

void Histogram::addTo(Lines& lines) const {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
        below += counts_[i];
        addLine(lines, line("_bucket", prometheusLabel("le", toText(bounds_[i]))), static_cast<double>(below));
    }
    addLine(lines, line("_bucket", prometheusLabel("le", "+Inf")), static_cast<double>(count_));
    addLine(lines, line("_sum"), sum_);
    addLine(lines, line("_count"), static_cast<double>(count_));
}

std::vector<double> powers(double first, double factor, int count) {
    FLOW_ASSERT(first > 0 && factor > 1 && count >= 0, "bounds that do not rise");
    std::vector<double> bounds;
    for (double bound = first; std::ssize(bounds) < count; bound *= factor)
        bounds.push_back(bound);
    return bounds;
}

std::string text() {
    std::map<std::string_view, std::vector<Metric const*>> families;
    for (Metric const* each = first; each; each = each->next)
        families[each->name].push_back(each);
    std::string out;
    for (auto const& [name, members] : families) {
        std::string help;
        for (char letter : members.back()->help)
            help += letter == '\n' ? "\\n" : letter == '\\' ? "\\\\" : std::string(1, letter);
        out += "# HELP " + std::string(name) + ' ' + help + "\n# TYPE " + std::string(name) + ' ' +
               members.back()->type() + '\n';
        Lines lines;
        for (auto member = members.rbegin(); member != members.rend(); ++member) // oldest first
            (*member)->addTo(lines);
        for (auto const& [line, value] : lines)
            out += line + ' ' + toText(value) + '\n';
    }
    return out;
}

} // namespace flow::metrics
