#pragma once
// Functions of the processor and the system, for flow/Platform.h of this folder.
//
//     std::uint64_t bytes = getResidentMemoryUsage();
//     double begin = getProcessorTimeThread();               // seconds of processor time
//     criticalError(FDB_EXIT_ERROR, "NoPort", "the port is in use");
//
// Under simulation, these are the machine's figures too.

#include "../diag/machine_stack.h"
#include "../flow.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <fstream>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>
#if defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#define FDB_EXIT_SUCCESS 0
#define FDB_EXIT_ERROR 1
#define FDB_EXIT_ABORT 3

#define DEFAULT_CONSTRUCTORS(X)                                                                                        \
    X(X const&) = default;                                                                                             \
    X& operator=(X const&) = default;

#define crashAndDie() std::abort()

/// Returns `value`, in an expression that depends on the first template parameter.
template <class Ignored, class T>
T& makeDependent(T& value) {
    return value;
}

// These functions count the zero bits at the low end (ctz) or the high end (clz); for 0, all bits.
constexpr int ctz(std::uint32_t x) {
    return std::countr_zero(x);
}
constexpr int clz(std::uint32_t x) {
    return std::countl_zero(x);
}
constexpr int ctzll(std::uint64_t x) {
    return std::countr_zero(x);
}
constexpr int clzll(std::uint64_t x) {
    return std::countl_zero(x);
}

/// Frees a block of aligned_alloc().
inline void aligned_free(void* block) {
    std::free(block);
}

/// Removes blanks, tabs and carriage returns at both ends.
inline std::string removeWhitespace(std::string const& text) {
    constexpr std::string_view kBlanks = " \t\r";
    std::size_t begin = text.find_first_not_of(kBlanks);
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

inline void flushOutputStreams() {
    std::fflush(nullptr);
}

// ---------------------------------------------------------------------------------------------------------------------
// Threads and processors

inline void threadYield() {
    ::sched_yield();
}
/// Makes the calling thread run only on this processor, if the processor exists.
inline void setAffinity(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(processor), &set);
    (void)::sched_setaffinity(0, sizeof set, &set);
}
/// Returns the counter of the processor, which has its own rate.
inline std::uint64_t timestampCounter() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc(); // nondeterminism: by contract this is the machine's value
#elif defined(__aarch64__)
    std::uint64_t count;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    // nondeterminism: by contract this is the machine's value
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

namespace platform {

/// Returns true if the processor has instructions for CRC32C.
inline bool isHwCrcSupported() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("sse4.2") != 0;
#elif defined(__aarch64__)
    return (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#else
    return false;
#endif
}
inline bool isSse42Supported() {
    return isHwCrcSupported();
}

} // namespace platform

namespace flow::compat {

/// Returns the seconds of processor time of the thread or the process, in user code and in the kernel.
inline double processorTime(int of) {
    rusage used;
    if (::getrusage(of, &used) != 0)
        throw platform_error();
    auto seconds = [](timeval time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Returns the number after `word`, in a file of /proc with a word at the start of each line; -1 if there is none.
inline std::int64_t numberBehind(std::string_view word, char const* path) {
    std::ifstream file(path);
    std::string found, rest;
    for (std::int64_t number = 0; file >> found; std::getline(file, rest))
        if (found == word && file >> number)
            return number;
    return -1;
}
inline std::uint64_t bytesBehind(std::string_view word) {
    std::int64_t number = numberBehind(word, "/proc/self/status");
    if (number < 0)
        throw platform_error();
    return static_cast<std::uint64_t>(number) * 1024;
}

} // namespace flow::compat

inline double getProcessorTimeThread() {
    return flow::compat::processorTime(RUSAGE_THREAD);
}
inline double getProcessorTimeProcess() {
    return flow::compat::processorTime(RUSAGE_SELF);
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory, in bytes

/// Returns the mapped memory.
inline std::uint64_t getMemoryUsage() {
    return flow::compat::bytesBehind("VmSize:");
}
/// Returns the resident memory.
inline std::uint64_t getResidentMemoryUsage() {
    return flow::compat::bytesBehind("VmRSS:");
}

struct MachineRAMInfo {
    std::int64_t total;
    std::int64_t committed;
    std::int64_t available;
};
/// Sets the members of `info`. Used swap counts as committed. Throws platform_error.
inline void getMachineRAMInfo(MachineRAMInfo& info) {
    auto bytes = [](std::string_view word) {
        std::int64_t number = flow::compat::numberBehind(word, "/proc/meminfo");
        if (number < 0)
            throw flow::platform_error();
        return number * 1024;
    };
    info.total = bytes("MemTotal:");
    info.available = bytes("MemAvailable:") - (bytes("SwapTotal:") - bytes("SwapFree:"));
    info.committed = info.total - info.available;
}

/// Limits the memory of the process; 0 changes nothing. Throws platform_error if the system does not permit it.
inline void setMemoryQuota(std::size_t limit) {
    if (limit == 0)
        return;
    rlimit quota;
    if (::getrlimit(RLIMIT_AS, &quota) != 0 || (quota.rlim_max != RLIM_INFINITY && limit > quota.rlim_max))
        throw flow::platform_error();
    quota.rlim_cur = limit;
    if (::setrlimit(RLIMIT_AS, &quota) != 0)
        throw flow::platform_error();
}

// ---------------------------------------------------------------------------------------------------------------------
// The end of the program

/// Ends the program without destructors, after writing out traced and printed text.
[[noreturn]] inline void flushAndExit(int code) {
    if (flow::trace::traceSink)
        flow::trace::traceSink->flush();
    std::fflush(nullptr);
    std::_Exit(code);
}
/// Like flushAndExit(), with a line on standard error and an event of type `type` and SevError.
[[noreturn]] inline void criticalError(int exitCode, char const* type, char const* message) {
    std::fprintf(stderr, "ERROR: %s\n", message);
    flow::TraceEvent(flow::SevError, type).detail("Message", message).log();
    flushAndExit(exitCode);
}

// ---------------------------------------------------------------------------------------------------------------------
// The stack

namespace platform {

/// Writes the return addresses of the stack, the innermost first, and returns their number.
inline std::size_t raw_backtrace(void** addresses, int maxStackDepth) {
    return static_cast<std::size_t>(std::max(::backtrace(addresses, maxStackDepth), 0));
}
/// Returns a command that prints these calls: addr2line -e program -p -C -f -i 0x...
inline std::string format_backtrace(void** addresses, int count) {
    return flow::machineStack(addresses, static_cast<std::size_t>(count));
}
inline std::string get_backtrace() {
    return flow::machineStack();
}

} // namespace platform

namespace flow::compat {

inline std::vector<void (*)()> crashCallbacks;

/// Most of these calls are not safe in a signal handler, but the program ends anyway.
inline void onCrash(int signal) {
    bool isError = signal != SIGUSR2;
    std::string stack = machineStack();
    for (auto* callback : crashCallbacks)
        callback();
    std::fprintf(isError ? stderr : stdout, "SIGNAL: %s (%d)\n", ::strsignal(signal), signal);
    if (isError)
        std::fprintf(stderr, "Trace: %s\n", stack.c_str());
    std::fflush(stdout);
    TraceEvent(isError ? SevError : SevInfo, isError ? "Crash" : "ProcessTerminated")
        .detail("Signal", signal)
        .detail("Name", ::strsignal(signal))
        .detail("Trace", stack);
    if (trace::traceSink)
        trace::traceSink->flush();
    std::signal(signal, SIG_DFL);
    std::raise(signal); // takes effect when this returns: until then the signal is blocked
}

} // namespace flow::compat

/// Adds a callback of the crash handler, which calls its callbacks in the order of their registration.
inline void registerCrashHandlerCallback(void (*callback)()) {
    flow::compat::crashCallbacks.push_back(callback);
}
/// Makes a signal that ends the program (SIGILL, SIGFPE, SIGSEGV, SIGBUS, SIGABRT) print its name and the stack first,
/// and write an event "Crash" of SevError. SIGUSR2 ends it with an event "ProcessTerminated".
inline void registerCrashHandler() {
    struct ::sigaction action{};
    action.sa_handler = flow::compat::onCrash;
    ::sigfillset(&action.sa_mask);
    for (int signal : {SIGILL, SIGFPE, SIGSEGV, SIGBUS, SIGUSR2, SIGABRT})
        ::sigaction(signal, &action, nullptr);
}
