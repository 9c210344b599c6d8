#pragma once
// The sink of the trace events of a thread: a file, memory, or nothing, which is the default.
//
//     TraceFile trace("trace.json");              // from here to the end of the scope
//     TraceFile trace({.path = "server.json", .levels = "info,net=debug", .rotateBytes = 100 << 20, .keep = 9});
//
//     TraceMemory trace;                          // in a test
//     work();
//     CHECK(trace.lines().size() == 1);
//
// A sink belongs to the thread that made it, and takes the events of this thread until it is destroyed. Then the sink
// that the thread had before takes the events again. Several threads may open one file: lines are appended whole.
//
// The environment variable MILLRACE_LOG has levels (flow/trace/levels.h), for example MILLRACE_LOG=info,net=debug. They
// replace the levels of each TraceFile that is opened. The events of threads without a sink then go to standard error,
// one by one: as text if it is a terminal, else as JSON lines. A word `text` or `json` in the variable decides this. A
// wrong word is named on standard error; the other words hold.
//
// While a thread has a sink, or MILLRACE_LOG is set, failed assertions and errors that nothing receives (also of `void`
// actors) are events: "AssertionFailed" and "ErrorDropped", with the name of the actor. An uncaught error is the event
// "UncaughtError".

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

class TraceSink : NonCopyable {
public:
    /// Makes the sink take only the events of these levels.
    void setLevels(TraceLevels levels);
    /// Makes the sink take only events of at least this severity.
    void setMinimum(Severity severity) { setLevels(severity); }
    TraceLevels const& levels() const { return levels_; }

    /// Writes a line of JSON, which has no newline.
    virtual void write(std::string_view line, Severity severity) = 0;
    /// Writes out the lines: when flush() returns, all lines have left this program.
    virtual void flush() = 0;

protected:
    explicit TraceSink(TraceLevels levels);
    virtual ~TraceSink();

private:
    TraceSink* before_;
    TraceLevels levels_;
};

namespace trace {
/// The sink that takes this thread's events; null for none.
inline constinit thread_local TraceSink* traceSink = nullptr;
/// Events of a lower severity are not written, whatever their area. The first event of a thread sets the number.
inline constinit thread_local int traceMinimum = std::numeric_limits<int>::min();

class OpenFile;
} // namespace trace

/// Json: a line is one JSON object. Text: a line for people, as flow/trace/event_text.h writes it.
enum class TraceFormat : std::uint8_t { Json, Text };

struct TraceFileOptions {
    std::string path = {};
    TraceLevels levels = SevInfo;
    TraceFormat format = TraceFormat::Json;
    /// A new file begins before this one has more bytes; 0: never. Only a longer line makes a longer file.
    std::uint64_t rotateBytes = 0;
    /// A new file begins with the first write at which this file was open for so long; 0: never.
    Seconds rotateSeconds = 0;
    /// So many old files are kept: PATH.1, the newest, to PATH.9. All files together have (keep + 1) * rotateBytes.
    int keep = 9;
};

/// A sink that appends to a file.
///
/// Lines are written when there are 64 KiB of them, at every event of SevError, and one second after the first of them,
/// even while a step keeps the loop. A thread of the process does so; it exists only while lines wait. Lines are also
/// written at the destruction, at exit(), and when the program ends by a failed assertion or an uncaught error. If a
/// signal kills the program, the lines of the last second are lost. A child of fork() can go on with the file; it does
/// not write the lines that wait in its parent.
///
/// A file that cannot be written, for example since the disk is full, loses events and does not stop the program. Once
/// it can be written again, an event "TraceEventsLost" says how many were lost, as "Count".
///
/// With rotateBytes or rotateSeconds, several threads of a program may rotate one file; several programs must not.
/// For a file that another program renames: `for (;;) { co_await signals({SIGHUP}); trace.reopen(); }`
class TraceFile final : public TraceSink {
public:
    /// Throws io_error if the file cannot be opened.
    explicit TraceFile(std::string_view path, TraceLevels levels = SevInfo);
    /// Also throws invalid_option_value if rotateSeconds or keep is negative.
    explicit TraceFile(TraceFileOptions options);
    ~TraceFile() override;

    void write(std::string_view line, Severity severity) override;
    void flush() override;
    /// Writes out the lines, and opens the path again. Throws io_error if that fails; then the old file is still used.
    void reopen();
    /// Returns how many events were lost so far, because the file could not be written.
    std::uint64_t lostEvents() const;

private:
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
