#include "flow/trace/sink.h"

#include "flow/base/assert.h"
#include "flow/base/error.h"
#include "flow/trace/trace_event.h"

#include <cerrno>
#include <fcntl.h>
#include <new>
#include <unistd.h>

namespace flow {
namespace {

constexpr std::size_t kFlushBytes = 64 * 1024;

DroppedErrorHandler droppedBefore = nullptr;
AssertionHandler assertionBefore = nullptr;

void traceDropped(const char* where, Error error) {
    if (!trace::traceSink)
        return droppedBefore(where, error);
    try {
        TraceEvent event(SevError, "ErrorDropped");
        event.detail("Actor", where).error(error);
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
    } catch (std::bad_alloc const&) { // no memory for the event: the text on standard error must do
    }
}

/// Makes trace events of failed assertions, and of errors that nothing receives. Only the program's first call acts.
void hearOfErrors() {
    [[maybe_unused]] static bool const once = [] {
        droppedBefore = setDroppedErrorHandler(nullptr); // set before another thread can call traceDropped
        setDroppedErrorHandler(traceDropped);
        assertionBefore = setAssertionHandler(traceAssertion);
        return true;
    }();
}

} // namespace

TraceSink::TraceSink(Severity minimum) : before_(trace::traceSink), minimum_(minimum) {
    hearOfErrors();
    trace::traceSink = this;
    trace::traceMinimum = minimum_;
}

TraceSink::~TraceSink() {
    FLOW_ASSERT(trace::traceSink == this, "trace sinks are destroyed in another order than they were made in");
    trace::traceSink = before_;
    trace::traceMinimum = before_ ? before_->minimum_ : SevError + 1;
}

void TraceSink::setMinimum(Severity severity) {
    minimum_ = severity;
    if (trace::traceSink == this)
        trace::traceMinimum = severity;
}

TraceFile::TraceFile(std::string const& path, Severity minimum)
    : TraceSink(minimum), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    if (file_ < 0)
        throw io_error();
}

TraceFile::~TraceFile() {
    flush();
    ::close(file_);
}

void TraceFile::write(std::string_view line, Severity severity) {
    pending_ += line;
    pending_ += '\n';
    if (severity >= SevError || pending_.size() >= kFlushBytes)
        flush();
}

// A file that cannot be written loses events, and does not stop the program.
void TraceFile::flush() {
    std::string_view rest = pending_;
    while (!rest.empty()) {
        ssize_t written = ::write(file_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    pending_.clear();
}

} // namespace flow
