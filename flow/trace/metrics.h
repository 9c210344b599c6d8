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
//     metrics::Gauge queue("shop_queue", "Orders that wait.", [&] { return double(orders.size()); });
//     std::string page = metrics::text();                  // all metrics of the process
//
// console::servePrometheus() (net/console.h) serves this page with the figures of the loops. Only the thread that made
// a metric changes it, reads value() and destroys it. The page has the metrics of all threads. Metrics with the same
// name and labels are one line with their sum, so each loop may have its own metric. add() and set() cost a load, an
// addition and a store; observe() searches the bounds. Only making a metric or the page allocates memory.

#include "flow/base/non_copyable.h"
#include "flow/base/one_writer.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace flow::metrics {

/// The keys and values of labels. Each combination of values is a line of the page: use few values.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// The lines of all metrics with the same name, in the order of the page. A line is a text and its value.
using Lines = std::vector<std::pair<std::string, double>>;

/// The common part of counters, gauges and histograms.
class Metric : NonCopyable {
public:
    virtual char const* type() const = 0;
    /// Adds the lines for page number `page`. Any thread may call this.
    virtual void addTo(Lines& lines, std::uint64_t page) const = 0;
    /// Reads the value for the page, on the thread of the metric.
    virtual void read(std::uint64_t) {}

    std::string const name, help;

protected:
    /// Ends the program if `name` has other characters than letters, digits, `_` and `:`, or begins with a digit. The
    /// names of labels follow the same rule, without `:`, and must differ.
    Metric(std::string name, std::string help, Labels const& labels);
    ~Metric();
    /// Adds the metric to the page. Must be the last call of the constructor, since other threads then use the metric.
    /// Ends the program if a metric of another kind has the same name.
    void join();
    /// Removes the metric from the page. Must be the first call of the destructor.
    void leave() noexcept;
    /// Calls check() for each metric with the same name and labels.
    void forEachOfLine(std::function<void(Metric const&)> const& check) const;
    /// Returns the name and `suffix`, and then, in braces, the labels and `more`.
    std::string line(char const* suffix, std::string const& more = {}) const;

private:
    friend void readGauges(std::uint64_t page);

    std::string labels_;
    void const* thread_; // identifies the thread of this metric
};

/// A number that only grows.
class Counter final : Metric {
public:
    explicit Counter(std::string called, std::string text, Labels const& labels = {})
        : Metric(std::move(called), std::move(text), labels) {
        join();
    }
    ~Counter() { leave(); }
    void add(std::uint64_t more = 1) { value_.add(more); }
    std::uint64_t value() const { return value_.load(); }

private:
    char const* type() const override { return "counter"; }
    void addTo(Lines& lines, std::uint64_t page) const override;

    OneWriter<std::uint64_t> value_;
};

/// A number that goes up and down.
class Gauge final : Metric {
public:
    explicit Gauge(std::string called, std::string text, Labels const& labels = {})
        : Gauge(std::move(called), std::move(text), nullptr, labels) {}
    /// Makes a gauge with a function: ask() returns its value. ask() is called once for each page, on the thread that
    /// made the gauge. If that thread has no loop, or its loop does not answer in time, the page has no line for the
    /// gauge. ask() must not throw, and must not make or destroy metrics.
    Gauge(std::string called, std::string text, std::function<double()> ask, Labels const& labels = {})
        : Metric(std::move(called), std::move(text), labels), ask_(std::move(ask)) {
        join();
    }
    ~Gauge() { leave(); }
    void set(double value) { value_.store(value); }
    void add(double more) { value_.add(more); }
    double value() const { return value_.load(); }

private:
    char const* type() const override { return "gauge"; }
    void addTo(Lines& lines, std::uint64_t page) const override;
    void read(std::uint64_t page) override;

    OneWriter<double> value_;
    std::function<double()> ask_;   // empty: set() and add() make the value
    OneWriter<std::uint64_t> page_; // the newest page for which ask_ was called
};

/// Counts the values in each of several ranges.
class Histogram final : Metric {
public:
    /// The bounds must rise, and no label may be `le`. A value that equals a bound is counted at that bound. A value
    /// above all bounds, or NaN, is counted only in count() and sum(). Histograms with equal name and labels must have
    /// equal bounds.
    Histogram(std::string name, std::string help, std::vector<double> bounds, Labels const& labels = {});
    ~Histogram() { leave(); }
    void observe(double value);
    std::uint64_t count() const;
    double sum() const { return sum_.load(); }

private:
    char const* type() const override { return "histogram"; }
    void addTo(Lines& lines, std::uint64_t page) const override;

    std::vector<double> bounds_;
    // The number of values in (previous bound, bound], for each bound; the last element counts all other values.
    std::vector<OneWriter<std::uint64_t>> counts_;
    OneWriter<double> sum_;
};

/// Returns `count` bounds for a histogram: `first`, and then the bound before times `factor`.
std::vector<double> powers(double first, double factor, int count);

/// Returns the page of the process, sorted by name. Leaves out other threads' gauges with a function.
std::string text();

// A page with the gauges of several threads is made in three steps. console::servePrometheus() does this.

/// Returns the number of a new page.
std::uint64_t newPage();
/// Calls the functions of this thread's gauges, for the page.
void readGauges(std::uint64_t page);
/// Returns the page, with the gauges that were read for it.
std::string text(std::uint64_t page);

} // namespace flow::metrics
