#include "flow/trace/recorder.h"

#include "flow/base/detail/sentence.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <unistd.h>

namespace flow::trace {

Recorder::Recorder(Loop& loop, RecorderOptions options)
    : loop_(loop), name_(std::move(options.name)), clock_(loop.isSimulated() ? &loop : nullptr),
      log_(options.bytes, clock_) {
    loop_.add(log_);
    addEndingWatch(*this);
    addMarkTarget(*this);
}

Recorder::~Recorder() {
    removeMarkTarget(*this);
    removeEndingWatch(*this);
    loop_.remove(log_);
}

std::string Recorder::bytes() const {
    PerfettoTrace trace;
    // nondeterminism: a trace says which process wrote it.
    std::uint64_t process = trace.addProcess(programName(), ::getpid());
    log_.writeTo(trace, trace.addTrack(name_, process));
    return trace.bytes();
}

void Recorder::writeTo(std::string const& path) const {
    writeFile(path, bytes());
}

void Recorder::failed(void const* code, Error error) noexcept {
    log_.failed(code, error);
}

void Recorder::cancelled(void const* code) noexcept {
    log_.cancelled(code);
}

void Recorder::mark(char const* text) noexcept {
    log_.mark(text);
}

std::string programName() {
    return program_invocation_short_name;
}

void writeFile(std::string const& path, std::string const& bytes) {
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    auto failed = [&](char const* call) {
        std::string_view reason = systemText(errno);
        return withPieces(io_error(), {call, " \"", path, "\": ", reason});
    };
    std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "wbe"));
    if (!file)
        throw failed("open");
    if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() || std::fflush(file.get()) != 0)
        throw failed("write");
}

} // namespace flow::trace
