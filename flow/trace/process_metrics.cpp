#include "flow/trace/process_metrics.h"

#include "flow/base/assert.h"
#include "flow/base/format.h"
#include "flow/base/to_text.h"
#include "flow/memory/fast_allocator.h"
#include "flow/trace/loop_metrics.h"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MILLRACE_VERSION // CMake sets it for this file
#define MILLRACE_VERSION "unknown"
#endif

namespace flow {
namespace {

std::string compilerName() {
#ifdef __clang__
    return format("clang %d.%d.%d", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
    return format("gcc %d.%d.%d", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

double secondsOfClock(clockid_t clock) {
    timespec time = {};
    ::clock_gettime(clock, &time); // nondeterminism: figures of the machine's process
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Some fields of /proc/self/stat.
struct ProcessStat {
    unsigned long user = 0, system = 0; // in ticks
    long threads = 0;
    unsigned long long started = 0; // in ticks since the machine was started
    unsigned long virtualBytes = 0;
    long residentPages = 0;
};

std::optional<ProcessStat> readStat() {
    std::FILE* file = std::fopen("/proc/self/stat", "re");
    if (!file)
        return std::nullopt;
    char text[2048];
    text[std::fread(text, 1, sizeof text - 1, file)] = '\0';
    std::fclose(file);
    ProcessStat stat;
    char const* afterName = std::strrchr(text, ')'); // the name may have spaces and brackets
    int read = afterName ? std::sscanf(afterName + 1,
                                       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %ld %*d "
                                       "%llu %lu %ld",
                                       &stat.user, &stat.system, &stat.threads, &stat.started, &stat.virtualBytes,
                                       &stat.residentPages)
                         : 0;
    return read == 6 ? std::optional(stat) : std::nullopt;
}

std::optional<double> openDescriptors() {
    DIR* folder = ::opendir("/proc/self/fd");
    if (!folder)
        return std::nullopt;
    double count = -1; // without the descriptor of this folder
    while (dirent const* entry = ::readdir(folder))
        count += entry->d_name[0] != '.';
    ::closedir(folder);
    return count;
}

void appendFigure(std::string& out, std::string const& name, char const* type, char const* help, double value,
                  std::string const& labels = {}) {
    out += "# HELP " + name + ' ' + help + "\n# TYPE " + name + ' ' + type + '\n';
    out += name + (labels.empty() ? "" : '{' + labels + '}') + ' ' + toText(value) + '\n';
}

} // namespace

std::string processText() {
    std::string out;
    appendFigure(out, "millrace_build_info", "gauge", "1; the labels say how the library was built.", 1,
                 prometheusLabel("version", MILLRACE_VERSION) + ',' + prometheusLabel("compiler", compilerName()) +
                     ',' + prometheusLabel("checked", FLOW_CHECKED ? "true" : "false"));
    appendFigure(out, "millrace_process_blocks_bytes", "gauge",
                 "Memory that the allocator holds for the blocks of all threads.",
                 static_cast<double>(memory::heldBytes()));
    auto tick = static_cast<double>(::sysconf(_SC_CLK_TCK));
    if (auto stat = readStat()) {
        double uptime = secondsOfClock(CLOCK_BOOTTIME) - static_cast<double>(stat->started) / tick;
        appendFigure(out, "millrace_uptime_seconds", "gauge", "The time since the process was started.", uptime);
        appendFigure(out, "process_cpu_seconds_total", "counter", "Total user and system CPU time spent in seconds.",
                     static_cast<double>(stat->user + stat->system) / tick);
        appendFigure(out, "process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
                     static_cast<double>(stat->residentPages) * static_cast<double>(::sysconf(_SC_PAGESIZE)));
        appendFigure(out, "process_start_time_seconds", "gauge",
                     "Start time of the process since unix epoch in seconds.", secondsOfClock(CLOCK_REALTIME) - uptime);
        appendFigure(out, "process_threads", "gauge", "Number of OS threads in the process.",
                     static_cast<double>(stat->threads));
        appendFigure(out, "process_virtual_memory_bytes", "gauge", "Virtual memory size in bytes.",
                     static_cast<double>(stat->virtualBytes));
    }
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        appendFigure(out, "process_max_fds", "gauge", "Maximum number of open file descriptors.",
                     static_cast<double>(limit.rlim_cur));
    if (auto open = openDescriptors())
        appendFigure(out, "process_open_fds", "gauge", "Number of open file descriptors.", *open);
    return out;
}

} // namespace flow
