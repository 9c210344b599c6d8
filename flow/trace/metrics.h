#pragma once
// Counters, gauges and histograms of a program, and their page for Prometheus.
//
//     metrics::Counter requests("shop_requests_total", "Requests that were answered.", {{"kind", "order"}});
//     metrics::Gauge open("shop_connections", "Connections that are open.");
//     metrics::Histogram seconds("shop_request_seconds", "How long an answer took.", metrics::powers(0.001, 2, 12));
//
//     requests.add();
//     open.set(3);
//     seconds.observe(timer() - began);
//     std::string page = metrics::text();             // all metrics of this thread
//
// console::servePrometheus() (net/console.h) serves this page with the figures of the loop. A metric belongs to the
// thread that made it, as a loop does, and is on the page for as long as it exists. Metrics with the same name and
// labels are one line with their sum, so each part of a program may have a metric of its own. add() and set() cost an
// addition; observe() costs a search among the bounds. Memory is allocated only to make a metric or the page.

#include "flow/base/non_copyable.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace flow::metrics {

/// The key and the value of each label. Each combination of values is a line of the page: use few values.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// The lines of all metrics with the same name, in the order of the page: a line's text, and its value.
using Lines = std::vector<std::pair<std::string, double>>;

/// The common part of counters, gauges and histograms.
class Metric : NonCopyable {
public:
    virtual char const* type() const = 0;
    virtual void addTo(Lines& lines) const = 0;

    std::string const name, help;
    Metric* next;

protected:
    /// Ends the program if `name` has other characters than letters, digits, `_` and `:`, if the name of a label has a
    /// `:`, or if a metric of another kind has the same name.
    Metric(std::string name, std::string help, Labels const& labels, char const* type);
    ~Metric();
    /// Returns the name, `suffix`, and in braces the labels and `more`.
    std::string line(char const* suffix, std::string const& more = {}) const;
    /// Returns true if both metrics have the same name and the same labels.
    bool isOneLineWith(Metric const& other) const { return other.name == name && other.labels_ == labels_; }

private:
    std::string labels_;
    Metric** place_; // the pointer that points to this metric
};

/// A number that only grows.
class Counter final : Metric {
public:
    explicit Counter(std::string called, std::string text, Labels const& labels = {})
        : Metric(std::move(called), std::move(text), labels, "counter") {}
    void add(std::uint64_t more = 1) { value_ += more; }
    std::uint64_t value() const { return value_; }

private:
    char const* type() const override { return "counter"; }
    void addTo(Lines& lines) const override;

    std::uint64_t value_ = 0;
};

/// A number that goes up and down.
class Gauge final : Metric {
public:
    explicit Gauge(std::string called, std::string text, Labels const& labels = {})
        : Metric(std::move(called), std::move(text), labels, "gauge") {}
    void set(double value) { value_ = value; }
    void add(double more) { value_ += more; }
    double value() const { return value_; }

private:
    char const* type() const override { return "gauge"; }
    void addTo(Lines& lines) const override;

    double value_ = 0;
};

/// Counts the values in each of several ranges.
class Histogram final : Metric {
public:
    /// The bounds must rise, and no label may be `le`. A value that equals a bound is counted at that bound. A value
    /// above all bounds, or NaN, is in count() and sum(). Histograms with equal name and labels must have equal bounds.
    Histogram(std::string name, std::string help, std::vector<double> bounds, Labels const& labels = {});
    void observe(double value);
    std::uint64_t count() const { return count_; }
    double sum() const { return sum_; }

private:
    char const* type() const override { return "histogram"; }
    void addTo(Lines& lines) const override;

    std::vector<double> bounds_;
    std::vector<std::uint64_t> counts_; // for each bound: the number of values in (the bound before, this bound]
    std::uint64_t count_ = 0;
    double sum_ = 0;
};

/// Returns `count` bounds for a histogram: `first`, and then always `factor` times the bound before.
std::vector<double> powers(double first, double factor, int count);

/// Returns the page of this thread's metrics, sorted by name.
std::string text();

} // namespace flow::metrics
