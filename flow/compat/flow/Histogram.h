#pragma once
// Histogram under the old header name: counts values by size, in 32 buckets.
//
//     Reference<Histogram> reads = Histogram::getHistogram("Disk"_sr, "Read"_sr, Histogram::Unit::microseconds);
//     reads->sampleSeconds(now() - begin);
//     GetHistogramRegistry().logReport();              // a TraceEvent "Histogram" for each; then clears them
//
// Bucket i has the values from 2^i up to below 2^(i+1), and the first one also 0. With percentageLinear a bucket has 4
// percent, with countLinear a 31st of the range between the bounds. A thread has one histogram of each name, as long as
// a reference to it exists.

#include "../../flow.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <string>

class Histogram;

class HistogramRegistry {
public:
    void logReport(double elapsed = -1);
    Histogram* lookupHistogram(std::string const& name) const {
        auto place = all_.find(name);
        return place == all_.end() ? nullptr : place->second;
    }

private:
    friend Histogram;
    std::map<std::string, Histogram*> all_;
};

inline HistogramRegistry& GetHistogramRegistry() {
    static thread_local HistogramRegistry registry;
    return registry;
}

class Histogram final : public flow::ReferenceCounted<Histogram> {
public:
    enum class Unit { microseconds, milliseconds, bytes, bytes_per_second, percentageLinear, countLinear };

    static flow::Reference<Histogram> getHistogram(flow::StringRef group, flow::StringRef op, Unit unit,
                                                   std::uint32_t lower = 0,
                                                   std::uint32_t upper = std::numeric_limits<std::uint32_t>::max()) {
        auto& known = GetHistogramRegistry().all_[nameOf(group, op)];
        if (known)
            return flow::Reference<Histogram>::addRef(known);
        auto made = flow::makeReference<Histogram>(group.toString(), op.toString(), unit, lower, upper);
        known = made.getPtr();
        return made;
    }
    Histogram(std::string theGroup, std::string theOp, Unit theUnit, std::uint32_t lower, std::uint32_t upper)
        : group(std::move(theGroup)), op(std::move(theOp)), unit(theUnit), lowerBound(lower), upperBound(upper) {
        FLOW_ASSERT_TRUE(upper > lower);
    }
    ~Histogram() { GetHistogramRegistry().all_.erase(name()); }

    void sample(std::uint32_t value) { ++buckets[static_cast<std::size_t>(31 - std::countl_zero(value | 1))]; }
    /// Adds the seconds, as microseconds.
    void sampleSeconds(double seconds) {
        constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
        sample(static_cast<std::uint32_t>(std::clamp(seconds * 1e6, 0.0, kMost)));
    }
    /// Adds a percentage: 1.0 is 100 percent.
    void samplePercentage(double part) {
        ++buckets[static_cast<std::size_t>(std::clamp(part, 0.0, 1.24) * 100 / 4 + 1e-9)];
    }
    /// Adds a value, for countLinear.
    void sampleRecordCounter(std::uint32_t value) {
        double part = double(std::clamp(value, lowerBound, upperBound) - lowerBound) / (upperBound - lowerBound);
        ++buckets[static_cast<std::size_t>(part * 31)];
    }
    void clear() { buckets.fill(0); }
    std::string name() const { return group + ":" + op; }

    /// Writes the event, unless there are no samples. A key is the upper bound of a bucket: "LessThan8".
    void writeToLog(double elapsed = -1) const {
        std::uint64_t total = 0;
        for (std::uint32_t count : buckets)
            total += count;
        if (total == 0)
            return;
        flow::TraceEvent event(flow::SevInfo, "Histogram");
        event.detail("Group", group).detail("Op", op).detail("Unit", unitName());
        if (elapsed > 0)
            event.detail("Elapsed", elapsed);
        for (std::size_t i = 0; i < buckets.size(); ++i)
            if (buckets[i] > 0)
                event.detail("LessThan" + flow::toText(end(i)), buckets[i]);
        event.detail("TotalCount", total);
    }

    std::string const group, op;
    Unit const unit;
    std::uint32_t const lowerBound, upperBound;
    std::array<std::uint32_t, 32> buckets{};

private:
    static std::string nameOf(flow::StringRef group, flow::StringRef op) {
        return group.toString() + ":" + op.toString();
    }
    char const* unitName() const {
        constexpr std::array kNames{"microseconds",     "milliseconds",     "bytes",
                                    "bytes_per_second", "percentageLinear", "countLinear"};
        return kNames[static_cast<std::size_t>(unit)];
    }
    double end(std::size_t bucket) const {
        auto next = static_cast<double>(bucket + 1);
        if (unit == Unit::percentageLinear)
            return next * 4 / 100;
        if (unit == Unit::countLinear)
            return lowerBound + next * (upperBound - lowerBound) / 31.0;
        return static_cast<double>(std::uint64_t{2} << bucket);
    }
};

inline void HistogramRegistry::logReport(double elapsed) {
    for (auto const& [name, histogram] : all_) {
        histogram->writeToLog(elapsed);
        histogram->clear();
    }
}
