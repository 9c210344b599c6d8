#include "flow/trace/detail/open_file.h"

#include "flow/base/detail/sentence.h"
#include "flow/base/to_text.h"
#include "flow/loop/real_loop.h"
#include "flow/trace/detail/date.h"
#include "flow/trace/event_text.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace flow::trace {
namespace {

constexpr std::size_t kMostWaiting = 64 * 1024; // bytes

TraceFileOptions checked(TraceFileOptions options) {
    auto refuse = [](char const* option, auto value) {
        throw wrongOption("TraceFileOptions", option, toText(value), "it must not be negative");
    };
    if (!(options.rotateSeconds >= 0.0))
        refuse("rotateSeconds", static_cast<double>(options.rotateSeconds));
    if (options.keep < 0)
        refuse("keep", options.keep);
    if (options.burst < 0)
        refuse("burst", options.burst);
    return options;
}

int openAppending(std::string const& path) noexcept {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/// Returns the error of an open() that has just failed.
Error cannotOpen(std::string const& path) {
    std::string_view reason = systemText(errno);
    return withPieces(io_error(), {"open the trace file \"", path, "\": ", reason});
}

/// Lets only one thread of the program rotate files at a time.
std::mutex& rotation() {
    static std::mutex& made = *new std::mutex;
    return made;
}

} // namespace

// nondeterminism: the age of a file is measured by the machine's clock, also in a simulation.
OpenFile::OpenFile(TraceFileOptions options)
    : options_(checked(std::move(options))), file_(openAppending(options_.path)), openedAt_(machineTime()) {
    if (file_ < 0)
        throw cannotOpen(options_.path);
    try {
        OpenFiles::all().add(*this);
    } catch (...) {
        ::close(file_);
        throw;
    }
}

OpenFile::~OpenFile() {
    OpenFiles::all().remove(*this);
    flush(true);
    ::close(file_);
}

void OpenFile::write(std::string_view line, Severity severity) {
    {
        std::lock_guard lock(mutex_);
        bool isFirst = waiting_.empty();
        append(line);
        if (severity >= SevError || waiting_.size() >= kMostWaiting)
            return writeWaiting();
        if (!isFirst)
            return;
    }
    OpenFiles::all().flushSoon();
}

void OpenFile::append(std::string_view line) {
    waiting_.reserve(waiting_.size() + line.size() + 1); // so that a line is not added in part if memory runs out
    if (options_.format == TraceFormat::Text)
        appendEventText(waiting_, line);
    else
        waiting_ += line;
    waiting_ += '\n';
}

void OpenFile::writeCountsOf(Bursts& bursts) {
    std::lock_guard lock(mutex_);
    bursts_ = &bursts;
    bursts.setCounted();
}

bool OpenFile::appendCounts(bool atEnd) noexcept {
    try {
        return bursts_ && bursts_->takeCounts(atEnd, [this](std::string_view line) { append(line); });
    } catch (std::bad_alloc const&) { // a later call may have memory
        return true;
    }
}

bool OpenFile::flush(bool atEnd) noexcept {
    std::lock_guard lock(mutex_);
    bool isCountLeft = appendCounts(atEnd);
    if (waiting_.empty())
        return isCountLeft;
    writeWaiting();
    return true;
}

std::uint64_t OpenFile::lostEvents() {
    std::lock_guard lock(mutex_);
    return lost_;
}

void OpenFile::writeWaiting() noexcept {
    try {
        if (rotates()) {
            std::lock_guard lock(rotation());
            writeLines(waiting_);
        } else {
            writeLines(waiting_);
        }
    } catch (...) { // no memory for a name or a report
        lose(waiting_);
    }
    waiting_.clear();
}

void OpenFile::writeLines(std::string_view lines) {
    std::string report = reportOfLost();
    if (!writeBytes(report).empty())
        return lose(lines);
    if (!report.empty())
        lostUnreported_ = 0;
    while (!lines.empty()) {
        std::string_view part = rotates() ? linesForFile(lines) : lines;
        std::string_view rest = writeBytes(part);
        lines.remove_prefix(part.size() - rest.size());
        if (!rest.empty())
            return lose(lines);
    }
}

std::string_view OpenFile::writeBytes(std::string_view bytes) noexcept {
    std::string_view const all = bytes;
    while (!bytes.empty()) {
        ssize_t written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        isTorn_ = bytes[static_cast<std::size_t>(written) - 1] != '\n';
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    std::size_t size = all.size() - bytes.size();
    if (std::size_t whole = all.substr(0, size).rfind('\n') + 1; size > whole)
        isTorn_ = !cutOff(size - whole);
    return bytes;
}

/// Cuts off the line that was begun when the disk was full: a reader of JSON would stop there. Returns false for a
/// pipe, and if another writer has added lines since.
bool OpenFile::cutOff(std::size_t begun) noexcept {
    struct stat file = {};
    off_t end = ::lseek(file_, 0, SEEK_CUR);
    return ::fstat(file_, &file) == 0 && S_ISREG(file.st_mode) && file.st_size == end &&
           ::ftruncate(file_, end - static_cast<off_t>(begun)) == 0;
}

void OpenFile::lose(std::string_view lines) noexcept {
    auto count = static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
    lost_ += count;
    lostUnreported_ += count;
}

std::string OpenFile::reportOfLost() const {
    std::string report = isTorn_ ? "\n" : "";
    if (lostUnreported_ == 0)
        return report;
    std::string line = R"({"DateTime":")";
    appendDate(line, currentDate());
    line += R"(","Area":"flow/trace","Severity":30,"Type":"TraceEventsLost","Count":)" + toText(lostUnreported_) + '}';
    options_.format == TraceFormat::Text ? appendEventText(report, line) : void(report += line);
    return report + '\n';
}

std::string_view OpenFile::linesForFile(std::string_view lines) {
    struct stat file = {};
    ::fstat(file_, &file);
    if (!S_ISREG(file.st_mode))
        return lines; // a pipe has no size, and must keep its name
    if (isRenamed() && openAgain())
        ::fstat(file_, &file);
    auto size = static_cast<std::uint64_t>(file.st_size);
    bool isOld = options_.rotateSeconds > 0 && machineTime() - openedAt_ >= options_.rotateSeconds;
    if (isOld && size > 0 && rotate())
        size = 0;
    if (options_.rotateBytes == 0)
        return lines;
    for (;;) {
        std::uint64_t room = options_.rotateBytes - std::min(size, options_.rotateBytes);
        if (lines.size() <= room)
            return lines;
        std::size_t end = room == 0 ? lines.npos : lines.rfind('\n', room - 1);
        if (end != lines.npos)
            return lines.substr(0, end + 1);
        if (size == 0 || !rotate())
            return lines.substr(0, lines.find('\n') + 1);
        size = 0;
    }
}

/// Returns true if another TraceFile or program has renamed the file.
bool OpenFile::isRenamed() const noexcept {
    struct stat open, named;
    return ::fstat(file_, &open) != 0 || ::stat(options_.path.c_str(), &named) != 0 || open.st_dev != named.st_dev ||
           open.st_ino != named.st_ino;
}

/// Returns true if a new file is open.
bool OpenFile::rotate() {
    auto old = [&](int number) { return options_.path + '.' + std::to_string(number); };
    for (int number = options_.keep - 1; number > 0; --number)
        std::rename(old(number).c_str(), old(number + 1).c_str());
    if (options_.keep > 0)
        std::rename(options_.path.c_str(), old(1).c_str());
    else
        ::unlink(options_.path.c_str());
    return openAgain();
}

bool OpenFile::openAgain() noexcept {
    int opened = openAppending(options_.path);
    if (opened < 0)
        return false;
    ::close(file_);
    file_ = opened;
    openedAt_ = machineTime();
    isTorn_ = false;
    return true;
}

void OpenFile::reopen() {
    std::lock_guard lock(mutex_);
    if (!waiting_.empty())
        writeWaiting();
    if (!openAgain())
        throw cannotOpen(options_.path);
}

} // namespace flow::trace
