#pragma once
// The sink of the trace events of a thread: a file, memory, or nothing, which is the default.
//
//     TraceFile trace("trace.json");              // from here to the end of the scope
//
//     TraceMemory trace;                          // in a test
//     work();
//     CHECK(trace.lines().size() == 1);
//
// A sink belongs to the thread that made it, and takes the events of this thread until it is destroyed. Then the sink
// that the thread had before takes the events again. Several threads may open one file: lines are appended whole.
//
// While a thread has a sink, failed assertions and errors that nothing receives (also of `void` actors) are events:
// "AssertionFailed" and "ErrorDropped", with the name of the actor.

#include "flow/base/non_copyable.h"

#include <string>
#include <string_view>
#include <vector>

namespace flow {

enum Severity : int { SevDebug = 5, SevInfo = 10, SevWarn = 20, SevWarnAlways = 30, SevError = 40 };

class TraceSink : NonCopyable {
public:
    /// Makes the sink take only events of at least this severity.
    void setMinimum(Severity severity);

    /// Writes a line, which has no newline.
    virtual void write(std::string_view line, Severity severity) = 0;
    /// Writes out the lines: when flush() returns, all lines have left this program.
    virtual void flush() = 0;

protected:
    explicit TraceSink(Severity minimum);
    virtual ~TraceSink();

private:
    TraceSink* before_;
    int minimum_;
};

namespace trace {
/// The sink that takes this thread's events; null for none.
inline constinit thread_local TraceSink* traceSink = nullptr;
/// Events of a lower severity are not written. Without a sink, this number is above all severities.
inline constinit thread_local int traceMinimum = SevError + 1;
} // namespace trace

/// A sink that appends to a file. It writes when it has 64 KiB, at every event of SevError, and when it is destroyed.
/// At exit() only a static or thread_local TraceFile is destroyed.
class TraceFile final : public TraceSink {
public:
    /// Throws io_error if the file cannot be opened.
    explicit TraceFile(std::string const& path, Severity minimum = SevInfo);
    ~TraceFile() override;

    void write(std::string_view line, Severity severity) override;
    void flush() override;

private:
    int file_;
    std::string pending_;
};

/// A sink that keeps the lines in memory.
class TraceMemory final : public TraceSink {
public:
    explicit TraceMemory(Severity minimum = SevInfo) : TraceSink(minimum) {}
    ~TraceMemory() override = default;

    void write(std::string_view line, Severity) override { lines_.emplace_back(line); }
    void flush() override {}
    std::vector<std::string> const& lines() const { return lines_; }
    void clear() { lines_.clear(); }

private:
    std::vector<std::string> lines_;
};

} // namespace flow
