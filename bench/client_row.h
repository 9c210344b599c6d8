#pragma once
// ClientRow: the result of a client of bench/http or bench/postgres. print() writes the number of requests, the
// seconds, the seconds of processor time, and the microseconds of the median request and of the 99th percentile.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <sys/resource.h>
#include <vector>

namespace bench {

class ClientRow {
public:
    explicit ClientRow(double seconds) : end_(begin_ + static_cast<std::uint64_t>(seconds * 1e9)) {}

    static std::uint64_t now() {
        return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                          std::chrono::nanoseconds(1));
    }
    bool goesOn() const { return now() < end_; }
    void add(std::uint64_t asked) { times_.push_back(now() - asked); }
    void print() {
        auto seconds = static_cast<double>(now() - begin_) / 1e9;
        double processor = processorTime() - usedBefore_;
        std::sort(times_.begin(), times_.end());
        std::printf("%zu %g %g %g %g\n", times_.size(), seconds, processor, at(50), at(99));
    }

private:
    static double processorTime() {
        rusage used = {};
        ::getrusage(RUSAGE_SELF, &used);
        auto seconds = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
        return seconds + static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    }
    double at(std::size_t percent) const {
        return times_.empty() ? 0 : static_cast<double>(times_[times_.size() * percent / 100]) / 1000;
    }

    std::uint64_t begin_ = now(), end_;
    double usedBefore_ = processorTime();
    std::vector<std::uint64_t> times_;
};

} // namespace bench
