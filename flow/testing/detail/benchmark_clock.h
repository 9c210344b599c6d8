#pragma once
// BenchmarkClock: measures one run of a benchmark. The functions of Benchmark act on the clock of their thread.
//
//     BenchmarkClock clock(&loop);
//     clock.open();
//     loop.run(body(n));
//     clock.close();
//     clock.spent().processor                 // nanoseconds
//
// `millrace bench instructions` counts the instructions from the end of a call of open() to the next call of close().
// So no compiler may inline these two functions.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace flow {
class Loop;
}

namespace flow::testing {

class BenchmarkClock {
public:
    struct Spent {
        double processor = 0; // ns of this thread
        double elapsed = 0;   // ns of the machine's clock
        double allocations = 0;
        double steps = 0;

        Spent& operator+=(Spent const& other);
        Spent operator-(Spent const& other) const;
    };

    /// Becomes the clock of this thread. `measured` may be null: then the clock counts no steps.
    explicit BenchmarkClock(Loop const* measured);
    ~BenchmarkClock();
    BenchmarkClock(BenchmarkClock const&) = delete;
    BenchmarkClock& operator=(BenchmarkClock const&) = delete;
    /// Returns null outside of a run.
    static BenchmarkClock* current();

    /// Starts the clock. If close() was not called after the last open(), forgets the measurement since then.
    void open();
    /// Stops the clock, which must run.
    void close();
    void closeIfOpen() {
        if (isOpen_)
            close();
    }

    Spent const& spent() const { return spent_; }
    /// Returns how often close() has stopped the clock.
    int intervals() const { return intervals_; }

    /// The functions that the body calls set these members.
    bool startedByBody = false;
    double items = 1;
    std::string failure; // empty: none
    std::string label;
    std::vector<std::pair<std::string, double>> figures;

private:
    Spent now() const;

    Loop const* measured_;
    BenchmarkClock* previous_;
    bool isOpen_ = false;
    int intervals_ = 0;
    Spent opened_;
    Spent spent_;
};

/// The number of calls of operator new on this thread. Programs that link millrace::bench count them.
inline constinit thread_local std::uint64_t systemAllocations = 0;

} // namespace flow::testing
