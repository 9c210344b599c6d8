#pragma once
// TraceSink: the receiver of the trace events of a thread. By default a thread has none.
//
//     TraceFile trace("trace.json");              // from here to the end of the scope
//     TraceFile trace({.path = "server.json", .levels = "info,net=debug", .rotateBytes = 100 << 20, .keep = 9});
//
//     TraceMemory trace;                          // in a test
//     work();
//     CHECK(trace.lines().size() == 1);
//
// A sink takes the events of the thread that made it, until it is destroyed. Then the thread's earlier sink takes them.
// Several threads may open one file: lines are appended whole.
//
// The environment variable MILLRACE_LOG has levels (flow/trace/levels.h), for example MILLRACE_LOG=info,net=debug. They
// replace the levels of each TraceFile. Events of threads without a sink then go to standard error: as text if it is a
// terminal, else as JSON lines. The word `text` or `json` in the variable overrides this; wrong words are reported.
//
// While a thread has a sink, or MILLRACE_LOG is set, failed assertions, errors that nothing receives (also of `void`
// actors) and uncaught errors are events: "AssertionFailed", "ErrorDropped" with the actor, and "UncaughtError".

#include "flow/base/non_copyable.h"
#include "flow/base/seconds.h"
#include "flow/trace/levels.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace flow {
namespace trace {
class Bursts;
} // namespace trace

class TraceSink : NonCopyable {
public:
    /// Makes the sink take only events of these levels.
    void setLevels(TraceLevels levels);
    /// Makes the sink take only events of at least this severity.
    void setMinimum(Severity severity) { setLevels(severity); }
    TraceLevels const& levels() const { return levels_; }
    /// Limits the events of each type and thread to `most` in a second; 0, the default: no limit. The first event that
    /// is written after the others says how many were left out, as "SuppressedEventCount". If no event comes, a
    /// TraceFile writes this count in an event "TraceEventsSuppressed", soon after the second or, if the loop is
    /// simulated, at the end; other sinks do not.
    void setBurst(int most) { burst_ = most; }
    int burst() const { return burst_; }
    /// For the library.
    trace::Bursts& bursts() const { return *bursts_; }

    /// Writes a line of JSON. `line` has no newline.
    virtual void write(std::string_view line, Severity severity) = 0;
    /// Writes out all buffered lines: they have left this program when flush() returns.
    virtual void flush() = 0;

protected:
    /// From here on the sink takes events, even if the constructor of the derived class fails.
    explicit TraceSink(TraceLevels levels);
    virtual ~TraceSink();

private:
    TraceSink* before_;
    TraceLevels levels_;
    int burst_ = 0;
    std::unique_ptr<trace::Bursts> bursts_;
};

namespace trace {
/// The sink of this thread; null: none.
inline constinit thread_local TraceSink* traceSink = nullptr;
/// Events of a lower severity are not written, whatever their area. The first event of a thread sets this variable.
inline constinit thread_local int traceMinimum = std::numeric_limits<int>::min();

class OpenFile;
} // namespace trace

/// Json: each line is a JSON object. Text: each line is written by appendEventText() (flow/trace/event_text.h).
enum class TraceFormat : std::uint8_t { Json, Text };

struct TraceFileOptions {
    std::string path = {};
    TraceLevels levels = SevInfo;
    TraceFormat format = TraceFormat::Json;
    /// The largest size of a file: then a new one begins. 0: no limit. Only a single longer line makes a longer file.
    std::uint64_t rotateBytes = 0;
    /// The age of a file at which the next write begins a new one; 0: never.
    Seconds rotateSeconds = 0;
    /// The number of old files: PATH.1, the newest, to PATH.9. All files together have (keep + 1) * rotateBytes.
    int keep = 9;
    /// The most events of a type and thread in a second, as setBurst() sets it; 0: no limit.
    int burst = 0;
};

/// A sink that appends to a file.
///
/// Lines are written when there are 64 KiB of them, at every event of SevError, and a second after the first of them,
/// by a thread, even while a step keeps the loop busy. Lines are also written by the destructor, at exit(), and when
/// the program ends by a failed assertion or an uncaught error. If a signal kills it, the lines of the last second are
/// lost. A child of fork() can use the file, and does not write the lines that wait in its parent.
///
/// If the file cannot be written, for example because the disk is full, events are lost and the program goes on. When
/// it can be written again, an event "TraceEventsLost" has the number of lost events as "Count".
///
/// With rotateBytes or rotateSeconds, several threads of a program may rotate one file; several programs must not.
/// For a file that another program renames: `for (;;) { co_await signals({SIGHUP}); trace.reopen(); }`
class TraceFile final : public TraceSink {
public:
    /// Throws io_error if the file cannot be opened; its text names the path and the reason.
    explicit TraceFile(std::string_view path, TraceLevels levels = SevInfo);
    /// Also throws invalid_option_value if rotateSeconds or keep is negative.
    explicit TraceFile(TraceFileOptions options);
    ~TraceFile() override;

    void write(std::string_view line, Severity severity) override;
    void flush() override;
    /// Writes out the lines, and opens the path again. If that fails, throws io_error, and goes on with the old file.
    void reopen();
    /// Returns the number of events that were lost because the file could not be written.
    std::uint64_t lostEvents() const;

private:
    TraceFile(std::unique_ptr<trace::OpenFile> file, TraceFileOptions const& options);

    std::unique_ptr<trace::OpenFile> file_;
};

/// A sink that keeps the lines in memory.
class TraceMemory final : public TraceSink {
public:
    explicit TraceMemory(TraceLevels levels = SevInfo) : TraceSink(std::move(levels)) {}
    ~TraceMemory() override = default;

    void write(std::string_view line, Severity) override { lines_.emplace_back(line); }
    void flush() override {}
    std::vector<std::string> const& lines() const { return lines_; }
    void clear() { lines_.clear(); }

private:
    std::vector<std::string> lines_;
};

} // namespace flow
