#pragma once
// OpenFile: the file of a TraceFile: the lines that wait, and rotation. OpenFiles: all of them in this process, and the
// thread that writes out their lines once a second while lines wait.
//
// Each OpenFile has a mutex, since its own thread adds lines and others write them out. Locks are taken in this order:
// that of OpenFiles, that of an OpenFile, and that of rotation. fork() takes the first two kinds, so that the child has
// them in order.

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
    /// Returns false if no lines have waited.
    bool flush() noexcept;
    void reopen();
    std::uint64_t lostEvents();

private:
    friend class OpenFiles;

    bool rotates() const { return options_.rotateBytes > 0 || options_.rotateSeconds > 0; }
    // The caller of these functions holds mutex_:
    void writeWaiting() noexcept;
    void writeLines(std::string_view lines);
    /// Returns what could not be written.
    std::string_view writeBytes(std::string_view bytes) noexcept;
    void lose(std::string_view lines) noexcept;
    std::string reportOfLost() const;
    /// Returns the lines at the start of `lines` that this file takes. May begin a new file before.
    std::string_view linesForFile(std::string_view lines);
    bool isRenamed() const noexcept;
    bool rotate();
    bool openAgain() noexcept;

    TraceFileOptions const options_;
    std::mutex mutex_;
    int file_;
    double openedAt_;
    std::string waiting_;
    bool isTorn_ = false;              // the file ends within a line
    std::uint64_t lost_ = 0;           // events
    std::uint64_t lostUnreported_ = 0; // those of them that no "TraceEventsLost" has counted
};

class OpenFiles : NonCopyable {
public:
    /// Those of this process. They are never destroyed, since threads may use them until the end.
    static OpenFiles& all();

    void add(OpenFile& file);
    void remove(OpenFile& file) noexcept;
    /// Lets a thread write out all lines within a second.
    void flushSoon() noexcept;
    void flushNow() noexcept;

private:
    OpenFiles();
    void flushUntilNoneWaits() noexcept;
    bool flushAll() noexcept;
    void lockAll();
    void unlockAll(bool inChild) noexcept;

    std::mutex mutex_;
    std::vector<OpenFile*> files_;
    bool hasThread_ = false;
};

} // namespace flow::trace
