#include "flow/trace/sink.h"

#include "flow/base/assert.h"
#include "flow/base/detail/dropped_error.h"
#include "flow/base/error.h"
#include "flow/trace/detail/event_receiver.h"
#include "flow/trace/detail/open_file.h"
#include "flow/trace/trace_event.h"

#include <exception>
#include <new>
#include <utility>

namespace flow {
namespace {

DroppedErrorHandler droppedBefore = nullptr;
AssertionHandler assertionBefore = nullptr;
std::terminate_handler terminateBefore = nullptr;

/// Adds details to the event of an error that this thread reports.
struct DroppedDetails {
    void (*add)(TraceEvent&, void const*) = nullptr;
    void const* of = nullptr;
};
thread_local constinit DroppedDetails droppedDetails;

void traceDropped(const char* where, Error error) {
    try {
        TraceEvent event(SevError, "ErrorDropped");
        if (!event.isEnabled())
            return droppedBefore(where, error);
        event.detail("Actor", where).error(error);
        if (droppedDetails.add)
            droppedDetails.add(event, droppedDetails.of);
        if (error.code() == error_code_unknown_error)
            event.detail("What", lastUnknownError());
    } catch (std::bad_alloc const&) {
        droppedBefore(where, error);
    }
}

void traceAssertion(const char* message, const char* file, int line, const char* actor) {
    if (assertionBefore)
        assertionBefore(message, file, line, actor);
    try {
        TraceEvent event(SevError, "AssertionFailed");
        event.detail("Message", message).detail("File", file).detail("Line", line);
        if (actor[0] != '\0')
            event.detail("Actor", actor);
    } catch (std::bad_alloc const&) { // no memory for the event: the text on standard error must be enough
    }
    trace::OpenFiles::all().flushNow();
}

void traceUncaught() {
    if (std::current_exception()) {
        try {
            TraceEvent(SevError, "UncaughtError").error(currentError(), true);
        } catch (std::bad_alloc const&) {
        }
    }
    trace::OpenFiles::all().flushNow();
    terminateBefore();
}

int minimumWithoutSink() {
    trace::EnvironmentLog const* log = trace::environmentLog();
    return log ? log->levels.minimum() : std::numeric_limits<int>::max();
}

TraceLevels levelsOfFile(TraceLevels const& levels) {
    trace::EnvironmentLog const* log = trace::environmentLog();
    return log ? log->levels : levels;
}

} // namespace

void reportDroppedBy(const char* where, Error error, void (*add)(TraceEvent&, void const*), void const* of) noexcept {
    DroppedDetails before = std::exchange(droppedDetails, {add, of});
    reportDroppedBy(where, error);
    droppedDetails = before;
}

void trace::hearOfErrors() {
    [[maybe_unused]] static bool const once = [] {
        droppedBefore = setDroppedErrorHandler(nullptr); // must be set before another thread can call traceDropped
        setDroppedErrorHandler(traceDropped);
        assertionBefore = setAssertionHandler(traceAssertion);
        terminateBefore = std::set_terminate(traceUncaught);
        return true;
    }();
}

bool trace::takes(Severity severity, std::string_view area) {
    if (traceMinimum == std::numeric_limits<int>::min())
        traceMinimum = minimumWithoutSink();
    if (severity < traceMinimum)
        return false;
    if (traceSink)
        return severity >= traceSink->levels().of(area);
    EnvironmentLog const* log = environmentLog();
    return log && severity >= log->levels.of(area);
}

void trace::receive(std::string_view line, Severity severity) {
    if (traceSink)
        traceSink->write(line, severity);
    else if (environmentLog())
        writeToStandardError(line);
}

TraceSink::TraceSink(TraceLevels levels)
    : before_(trace::traceSink), levels_(std::move(levels)), bursts_(std::make_unique<trace::Bursts>()) {
    trace::hearOfErrors();
    trace::traceSink = this;
    trace::traceMinimum = levels_.minimum();
}

TraceSink::~TraceSink() {
    FLOW_ASSERT(trace::traceSink == this, "trace sinks are destroyed in another order than they were made in");
    trace::traceSink = before_;
    trace::traceMinimum = before_ ? before_->levels_.minimum() : minimumWithoutSink();
}

void TraceSink::setLevels(TraceLevels levels) {
    levels_ = std::move(levels);
    if (trace::traceSink == this)
        trace::traceMinimum = levels_.minimum();
}

TraceFile::TraceFile(std::string_view path, TraceLevels levels)
    : TraceFile(TraceFileOptions{.path = std::string(path), .levels = std::move(levels)}) {}

TraceFile::TraceFile(TraceFileOptions options) : TraceFile(std::make_unique<trace::OpenFile>(options), options) {}

// Takes events only when the file is open: the event of an uncaught error is written before anything is destroyed.
TraceFile::TraceFile(std::unique_ptr<trace::OpenFile> file, TraceFileOptions const& options)
    : TraceSink(levelsOfFile(options.levels)), file_(std::move(file)) {
    setBurst(options.burst);
    file_->writeCountsOf(bursts());
}

TraceFile::~TraceFile() = default;

void TraceFile::write(std::string_view line, Severity severity) {
    file_->write(line, severity);
}

void TraceFile::flush() {
    file_->flush();
}

void TraceFile::reopen() {
    file_->reopen();
}

std::uint64_t TraceFile::lostEvents() const {
    return file_->lostEvents();
}

} // namespace flow
