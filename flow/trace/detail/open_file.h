#pragma once
// OpenFile: the file of a TraceFile, with its buffered lines and its rotation. OpenFiles: all OpenFile objects of the
// process. Their thread writes out the lines once a second, and exists only while there are buffered lines.
//
// Each OpenFile has a mutex, since one thread adds lines and others write them out. The order of locks is: OpenFiles,
// an OpenFile, its Bursts or rotation(). fork() takes all locks except rotation(), so that the child finds these
// objects in a valid state.

#include "flow/trace/detail/bursts.h"
#include "flow/trace/sink.h"

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace flow::trace {

class OpenFile : NonCopyable {
public:
    explicit OpenFile(TraceFileOptions options);
    ~OpenFile();

    void write(std::string_view line, Severity severity);
    /// Makes flush() write the counts of these bursts, which must exist as long as this object.
    void writeCountsOf(Bursts& bursts);
    /// With `atEnd`, also writes the counts of the last second. Returns false if there was nothing to write, and
    /// nothing will be until the next event.
    bool flush(bool atEnd = false) noexcept;
    void reopen();
    std::uint64_t lostEvents();

private:
    friend class OpenFiles;

    bool rotates() const { return options_.rotateBytes > 0 || options_.rotateSeconds > 0; }
    // The caller of these functions holds mutex_:
    void append(std::string_view line);
    bool appendCounts(bool atEnd) noexcept;
    void writeWaiting() noexcept;
    void writeLines(std::string_view lines);
    /// Returns the bytes that could not be written.
    std::string_view writeBytes(std::string_view bytes) noexcept;
    bool cutOff(std::size_t begun) noexcept;
    void lose(std::string_view lines) noexcept;
    std::string reportOfLost() const;
    /// Returns the first part of `lines`, which fits into the file. If the first line does not fit, begins a new file.
    std::string_view linesForFile(std::string_view lines);
    bool isRenamed() const noexcept;
    bool rotate();
    bool openAgain() noexcept;

    TraceFileOptions const options_;
    std::mutex mutex_;
    Bursts* bursts_ = nullptr;
    int file_;
    double openedAt_;
    std::string waiting_;
    bool isTorn_ = false;              // the file ends within a line
    std::uint64_t lost_ = 0;           // events
    std::uint64_t lostUnreported_ = 0; // lost events that no "TraceEventsLost" has counted yet
};

class OpenFiles : NonCopyable {
public:
    /// Returns the object of this process. It is never destroyed, since threads may use it until the end.
    static OpenFiles& all();

    void add(OpenFile& file);
    void remove(OpenFile& file) noexcept;
    /// Makes a thread write out all lines within a second.
    void flushSoon() noexcept;
    /// Writes out all lines and counts before the program ends.
    void flushNow() noexcept;

private:
    OpenFiles();
    void flushUntilNoneWaits() noexcept;
    bool flushAll(bool atEnd) noexcept;
    void lockAll();
    void unlockAll(bool inChild) noexcept;

    std::mutex mutex_;
    std::vector<OpenFile*> files_;
    bool hasThread_ = false;
};

} // namespace flow::trace
