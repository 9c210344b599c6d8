#pragma once
// Counters that are written to trace events at intervals, under the old header name.
//
//     CounterCollection stats{"Server", "1"};
//     Counter requests{"Requests", stats};
//     ++requests;
//     Future<Void> shown = stats.traceCounters("ServerStats", UID(), 5.0);      // until `shown` is dropped
//
// For each counter, an event has a text "rate roughness value", with the rate and roughness of the last interval.
// Roughness shows how unevenly the counter changed. A counter and its collection must not be used after the other is
// destroyed. For Prometheus see flow/trace/metrics.h.

#include "flow/flow.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

struct ICounter {
    virtual std::string const& getName() const = 0;
    virtual int64_t getValue() const = 0;
    virtual bool hasRate() const = 0;
    virtual double getRate() const = 0;
    virtual bool hasRoughness() const = 0;
    virtual double getRoughness() const = 0;
    virtual void resetInterval() = 0;
    virtual bool suppressTrace() const { return false; }

    virtual ~ICounter() = default;
};

class CounterCollection {
public:
    explicit CounterCollection(std::string name, std::string id = {}) : name_(std::move(name)), id_(std::move(id)) {}

    std::string const& getName() const { return name_; }
    std::string const& getId() const { return id_; }
    void addCounter(ICounter* counter) { counters_.push_back(counter); }
    void addOwned(std::unique_ptr<ICounter> counter) {
        addCounter(counter.get());
        owned_.push_back(std::move(counter));
    }
    /// Writes the counters to `event`, and begins their next intervals.
    void logToTraceEvent(flow::TraceEvent& event) {
        for (ICounter* each : counters_) {
            if (!each->suppressTrace()) {
                std::string value = std::to_string(each->getValue());
                event.detail(each->getName().c_str(),
                             each->hasRate()
                                 ? flow::format("%g %g %s", each->getRate(), each->getRoughness(), value.c_str())
                                 : value);
            }
            each->resetInterval();
        }
    }
    /// Writes an event every `interval` seconds, until the future is dropped. `decorate` may add to the event.
    flow::Future<flow::Void> traceCounters(std::string eventName, flow::UID id, double interval,
                                           [[maybe_unused]] std::string trackLatestName = {},
                                           std::function<void(flow::TraceEvent&)> decorate = {}, flow::Propagate = {}) {
        for (ICounter* each : counters_)
            each->resetInterval();
        for (;;) {
            double begin = flow::now();
            co_await flow::delay(interval);
            flow::TraceEvent event(eventName.c_str(), id);
            event.detail("Elapsed", flow::now() - begin);
            logToTraceEvent(event);
            if (decorate)
                decorate(event);
        }
    }

private:
    std::string name_, id_;
    std::vector<ICounter*> counters_;
    std::vector<std::unique_ptr<ICounter>> owned_;
};

class Counter final : public ICounter, flow::NonCopyable {
public:
    using Value = int64_t;

    Counter(std::string name, CounterCollection& collection) : name_(std::move(name)) {
        collection.addCounter(this);
        resetInterval();
    }
    void operator++() { *this += 1; }
    void operator+=(Value delta) {
        if (delta == 0)
            return;
        value_ += delta;
        double time = flow::now() - begin_;
        // Sums the squares of the times between changes. A steady counter has the least sum.
        squares_ += (time - last_) * (time - last_) * static_cast<double>(delta);
        last_ = time;
    }
    void clear() {
        resetInterval();
        atBegin_ = value_ = 0;
    }
    Value getIntervalDelta() const { return value_ - atBegin_; }
    Value getValue() const override { return value_; }
    std::string const& getName() const override { return name_; }
    bool hasRate() const override { return true; }
    double getRate() const override {
        double elapsed = flow::now() - begin_;
        return elapsed > 0 ? static_cast<double>(getIntervalDelta()) / elapsed : 0;
    }
    bool hasRoughness() const override { return true; }
    /// Returns 0 if the counter changes evenly, more if unevenly; -1 if it has not changed.
    double getRoughness() const override {
        double elapsed = last_, delta = static_cast<double>(getIntervalDelta());
        return elapsed > 0 && delta > 0 ? squares_ * delta / (elapsed * elapsed) - 1 : -1;
    }
    void resetInterval() override {
        atBegin_ = value_;
        begin_ = flow::now();
        last_ = squares_ = 0;
    }

private:
    std::string name_;
    Value value_ = 0, atBegin_ = 0;
    double begin_ = 0, last_ = 0, squares_ = 0;
};

/// Adds a counter that calls `function` for its value whenever it is written.
template <class F>
void specialCounter(CounterCollection& collection, std::string name, F function) {
    struct Special final : ICounter {
        Special(std::string n, F f) : name(std::move(n)), value(std::move(f)) {}
        std::string const& getName() const override { return name; }
        int64_t getValue() const override { return value(); }
        bool hasRate() const override { return false; }
        double getRate() const override { return 0; }
        bool hasRoughness() const override { return false; }
        double getRoughness() const override { return -1; }
        void resetInterval() override {}
        std::string name;
        F value;
    };
    collection.addOwned(std::make_unique<Special>(std::move(name), std::move(function)));
}
