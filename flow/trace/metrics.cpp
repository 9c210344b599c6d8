#include "flow/trace/metrics.h"

#include "flow/base/assert.h"
#include "flow/base/to_text.h"
#include "flow/trace/loop_metrics.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

namespace flow::metrics {
namespace {

/// The metrics of all threads. Never destroyed, since static metrics may end after other static objects.
struct AllMetrics {
    std::mutex mutex;
    std::vector<Metric*> list; // the oldest first
    std::atomic<std::uint64_t> pages{0};
};
AllMetrics& allMetrics() {
    static auto* const made = new AllMetrics;
    return *made;
}

/// The address of threadMark identifies this thread.
constinit thread_local char threadMark = 0;

/// Returns true if `name` is an identifier as in C, in which the characters of `also` are allowed as well.
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

Metric::Metric(std::string theName, std::string theHelp, Labels const& labels)
    : name(std::move(theName)), help(std::move(theHelp)), thread_(&threadMark) {
    FLOW_ASSERT(isName(name, ":"), "a metric's name has letters, digits, _ and :, and does not begin with a digit");
    for (auto const& [key, value] : labels) {
        FLOW_ASSERT(isName(key), "a label's name has letters, digits and _, and does not begin with a digit");
        FLOW_ASSERT(std::ranges::count(labels, key, &Labels::value_type::first) == 1, "a metric has a label twice");
        labels_ += (labels_.empty() ? "" : ",") + prometheusLabel(key, value);
    }
}

Metric::~Metric() = default;

void Metric::join() {
    std::lock_guard lock(allMetrics().mutex);
    for (Metric const* other : allMetrics().list)
        FLOW_ASSERT(other->name != name || std::strcmp(other->type(), type()) == 0,
                    "two metrics of different kinds have one name");
    allMetrics().list.push_back(this);
}

void Metric::leave() noexcept {
    std::lock_guard lock(allMetrics().mutex);
    std::erase(allMetrics().list, this);
}

void Metric::forEachOfLine(std::function<void(Metric const&)> const& check) const {
    std::lock_guard lock(allMetrics().mutex);
    for (Metric const* other : allMetrics().list)
        if (other->name == name && other->labels_ == labels_)
            check(*other);
}

std::string Metric::line(char const* suffix, std::string const& more) const {
    std::string out = name + suffix;
    if (labels_.empty() && more.empty())
        return out;
    return out + '{' + labels_ + (labels_.empty() || more.empty() ? "" : ",") + more + '}';
}

void Counter::addTo(Lines& lines, std::uint64_t) const {
    addLine(lines, line(""), static_cast<double>(value()));
}

void Gauge::addTo(Lines& lines, std::uint64_t page) const {
    if (!ask_ || page_.load() >= page)
        addLine(lines, line(""), value());
}

void Gauge::read(std::uint64_t page) {
    if (!ask_)
        return;
    set(ask_());
    page_.store(std::max(page, page_.load()));
}

Histogram::Histogram(std::string name, std::string help, std::vector<double> bounds, Labels const& labels)
    : Metric(std::move(name), std::move(help), labels), bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {
    FLOW_ASSERT(std::ranges::adjacent_find(bounds_, std::greater_equal<>()) == bounds_.end(),
                "a histogram's bounds do not rise");
    FLOW_ASSERT(std::ranges::all_of(bounds_, [](double bound) { return std::isfinite(bound); }),
                "a histogram's bounds are finite: what is above the last is counted too");
    FLOW_ASSERT(std::ranges::find(labels, "le", &Labels::value_type::first) == labels.end(),
                "the label le of a histogram has its bounds");
    forEachOfLine([&](Metric const& other) {
        bool isHistogram = std::strcmp(other.type(), "histogram") == 0; // else join() ends the program
        FLOW_ASSERT(!isHistogram || static_cast<Histogram const&>(other).bounds_ == bounds_,
                    "two histograms with one name and the same labels have different bounds");
    });
    join();
}

void Histogram::observe(double value) {
    auto bound = std::isnan(value) ? bounds_.end() : std::ranges::lower_bound(bounds_, value);
    counts_[static_cast<std::size_t>(bound - bounds_.begin())].add(1);
    sum_.add(value);
}

std::uint64_t Histogram::count() const {
    std::uint64_t all = 0;
    for (auto const& each : counts_)
        all += each.load();
    return all;
}

void Histogram::addTo(Lines& lines, std::uint64_t) const {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < bounds_.size(); ++i) {
        below += counts_[i].load();
        addLine(lines, line("_bucket", prometheusLabel("le", toText(bounds_[i]))), static_cast<double>(below));
    }
    auto all = static_cast<double>(below + counts_.back().load()); // so that buckets and count agree on each page
    addLine(lines, line("_bucket", prometheusLabel("le", "+Inf")), all);
    addLine(lines, line("_sum"), sum());
    addLine(lines, line("_count"), all);
}

std::vector<double> powers(double first, double factor, int count) {
    FLOW_ASSERT(first > 0 && factor > 1 && count >= 0, "bounds that do not rise");
    std::vector<double> bounds;
    for (double bound = first; std::ssize(bounds) < count; bound *= factor)
        bounds.push_back(bound);
    return bounds;
}

std::uint64_t newPage() {
    return ++allMetrics().pages;
}

void readGauges(std::uint64_t page) {
    std::vector<Metric*> mine; // called without the mutex; only this thread can destroy them
    {
        std::lock_guard lock(allMetrics().mutex);
        for (Metric* each : allMetrics().list)
            if (each->thread_ == &threadMark)
                mine.push_back(each);
    }
    for (Metric* each : mine)
        each->read(page);
}

std::string text(std::uint64_t page) {
    std::lock_guard lock(allMetrics().mutex);
    std::map<std::string_view, std::vector<Metric const*>> families;
    for (Metric const* each : allMetrics().list)
        families[each->name].push_back(each);
    std::string out;
    for (auto const& [name, members] : families) {
        Lines lines;
        for (Metric const* each : members)
            each->addTo(lines, page);
        if (lines.empty()) // a gauge of a thread that has not read it
            continue;
        std::string help;
        for (char letter : members.front()->help)
            help += letter == '\n' ? "\\n" : letter == '\\' ? "\\\\" : std::string(1, letter);
        out += "# HELP " + std::string(name) + ' ' + help + "\n# TYPE " + std::string(name) + ' ' +
               members.front()->type() + '\n';
        for (auto const& [line, value] : lines)
            out += line + ' ' + toText(value) + '\n';
    }
    return out;
}

std::string text() {
    std::uint64_t page = newPage();
    readGauges(page);
    return text(page);
}

} // namespace flow::metrics
