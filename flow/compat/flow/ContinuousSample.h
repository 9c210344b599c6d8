#pragma once
// ContinuousSample under the old header name: percentiles of many values, by a sample that deterministicRandom() draws.
//
//     ContinuousSample<double> latencies(1000);
//     latencies.addSample(0.003);
//     latencies.percentile(0.99), latencies.max()

#include "../../flow.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

template <class T>
class ContinuousSample {
public:
    explicit ContinuousSample(int sampleSize) : size_(static_cast<std::size_t>(sampleSize)) {}

    ContinuousSample& addSample(T sample) {
        min_ = count_ == 0 ? sample : std::min(min_, sample);
        max_ = count_ == 0 ? sample : std::max(max_, sample);
        ++count_;
        isSorted_ = false;
        auto* random = flow::deterministicRandom();
        if (samples_.size() < size_)
            samples_.push_back(sample);
        else if (random->random01() < static_cast<double>(size_) / static_cast<double>(count_))
            samples_[static_cast<std::size_t>(random->randomInt(0, static_cast<int>(size_)))] = sample;
        return *this;
    }
    // Returns the mean of the kept values; 0 if there are none.
    double mean() const {
        double sum = static_cast<double>(std::accumulate(samples_.begin(), samples_.end(), T()));
        return samples_.empty() ? 0 : sum / static_cast<double>(samples_.size());
    }
    T median() { return percentile(0.5); }
    /// Returns the smallest kept value that is at least as large as `part` (0 .. 1) of the kept values.
    T percentile(double part) {
        if (samples_.empty() || !(part >= 0 && part <= 1))
            return T();
        if (!isSorted_)
            std::sort(samples_.begin(), samples_.end());
        isSorted_ = true;
        double place = std::ceil(static_cast<double>(samples_.size()) * part) - 1;
        return samples_[static_cast<std::size_t>(std::max(place, 0.0))];
    }
    // Return the least and the greatest of all values, kept or not.
    T min() const { return min_; }
    T max() const { return max_; }
    std::uint64_t getPopulationSize() const { return count_; }
    void clear() { *this = ContinuousSample(static_cast<int>(size_)); }

private:
    std::size_t size_;
    std::uint64_t count_ = 0;
    bool isSorted_ = true;
    std::vector<T> samples_;
    T min_{}, max_{};
};
