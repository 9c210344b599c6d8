#include "bench/net/program_calls.h"

#include "flow/base/parse_number.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <optional>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bench {
namespace {

/// The file system of trace points, mounted nowhere, so that the machine stays as it is. Below 0, with errno, if that
/// cannot be.
int traceFolder() {
    int system = ::fsopen("tracefs", FSOPEN_CLOEXEC);
    if (system < 0)
        return -1;
    int folder = -1;
    if (::fsconfig(system, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0)
        folder = ::fsmount(system, FSMOUNT_CLOEXEC, 0);
    int error = errno;
    ::close(system);
    errno = error;
    return folder;
}

/// What perf_event_open() calls the begin of each system call. Nothing, with errno, if the kernel does not say.
std::optional<std::uint64_t> tracePoint() {
    int folder = traceFolder();
    if (folder < 0)
        return {};
    char text[32];
    ssize_t size = -1;
    int file = ::openat(folder, "events/raw_syscalls/sys_enter/id", O_RDONLY | O_CLOEXEC);
    if (file >= 0)
        size = ::read(file, text, sizeof text);
    int error = errno;
    if (file >= 0)
        ::close(file);
    ::close(folder);
    errno = error;
    if (size < 2) // a number and the end of its line
        return {};
    return flow::parseNumber<std::uint64_t>({text, static_cast<std::size_t>(size - 1)});
}

} // namespace

ProgramCalls::ProgramCalls() {
    std::optional<std::uint64_t> point = tracePoint();
    if (!point) {
        obstacle_ = std::string("the kernel's trace points: ") + std::strerror(errno);
        return;
    }
    perf_event_attr event = {};
    event.type = PERF_TYPE_TRACEPOINT;
    event.size = sizeof event;
    event.config = *point;
    event.inherit = 1;
    event.disabled = 1; // in this thread, and in the load, which it starts too
    event.enable_on_exec = 1;
    event_ = static_cast<int>(::syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (event_ < 0)
        obstacle_ = std::string("perf_event_open: ") + std::strerror(errno);
}

ProgramCalls::~ProgramCalls() {
    if (event_ >= 0)
        ::close(event_);
}

std::uint64_t ProgramCalls::count() const {
    std::uint64_t number = 0;
    return ::read(event_, &number, sizeof number) == sizeof number ? number : 0;
}

} // namespace bench
