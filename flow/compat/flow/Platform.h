#pragma once
// Clocks, threads and the processor, under the old header name.
//
//     double written = timer();                    // seconds since 1970
//     double latency = timer_monotonic() - now();  // since this turn of the loop began
//
// In a simulation, timer(), timer_monotonic() and now() are the simulated clock. On real loops, now() and
// timer_monotonic() count from the start of the program's first loop. timer() and timer_monotonic() need no loop.
//
//     THREAD_FUNC work(void* argument) {
//         use(static_cast<Job*>(argument));
//         THREAD_RETURN;
//     }
//     THREAD_HANDLE thread = startThread(work, &job);
//     waitThread(thread);          // once for each thread
//
// Files and paths are in ../platform_files.h, figures of the system in ../platform_system.h.

#include "../../flow.h"
#include "../platform_files.h"
#include "../platform_system.h"

#include <pthread.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#define force_inline inline __attribute__((__always_inline__))

/// Does nothing: for programs that call it.
inline void platformInit() {}

// Convert from the byte order of this machine to another one, and back.
constexpr bool isLittleEndianMachine = std::endian::native == std::endian::little;
constexpr std::uint16_t bigEndian16(std::uint16_t x) {
    return isLittleEndianMachine ? __builtin_bswap16(x) : x;
}
constexpr std::uint32_t bigEndian32(std::uint32_t x) {
    return isLittleEndianMachine ? __builtin_bswap32(x) : x;
}
constexpr std::uint64_t bigEndian64(std::uint64_t x) {
    return isLittleEndianMachine ? __builtin_bswap64(x) : x;
}
constexpr std::uint16_t fromBigEndian16(std::uint16_t x) {
    return bigEndian16(x);
}
constexpr std::uint32_t fromBigEndian32(std::uint32_t x) {
    return bigEndian32(x);
}
constexpr std::uint64_t fromBigEndian64(std::uint64_t x) {
    return bigEndian64(x);
}
constexpr std::uint16_t littleEndian16(std::uint16_t x) {
    return isLittleEndianMachine ? x : __builtin_bswap16(x);
}
constexpr std::uint32_t littleEndian32(std::uint32_t x) {
    return isLittleEndianMachine ? x : __builtin_bswap32(x);
}
constexpr std::uint64_t littleEndian64(std::uint64_t x) {
    return isLittleEndianMachine ? x : __builtin_bswap64(x);
}

namespace platform {

inline int getRandomSeed() {
    return static_cast<int>(flow::nondeterministicRandom()->randomUInt32() & 0x7FFFFFFF);
}
/// Returns true if the variable of the machine is set, also under simulation.
inline bool getEnvironmentVar(char const* name, std::string& value) {
    char const* text = std::getenv(name); // nondeterminism: by contract this is the machine's value
    if (text)
        value = text;
    return text != nullptr;
}
/// Returns 0, or an error number.
inline int setEnvironmentVar(char const* name, char const* value, int overwrite) {
    return setenv(name, value, overwrite) == 0 ? 0 : errno; // nondeterminism: by contract this is the machine's value
}

} // namespace platform

inline double timer_monotonic() {
    return flow::hasLoop() ? flow::timer() : flow::realLoopTime();
}
inline double timer() {
    if (flow::hasLoop())
        return flow::Loop::current().isSimulated() ? flow::timer() : flow::wallTime();
    // nondeterminism: by contract this is the machine's clock
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}
/// Returns timer() in nanoseconds.
inline std::uint64_t timer_int() {
    return static_cast<std::uint64_t>(::timer() * 1e9);
}
/// Blocks the thread and its loop. Under simulation, the simulated time stands still meanwhile.
inline void threadSleep(double seconds) {
    // nondeterminism: only the machine's clock shows the duration
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// nondeterminism: programs start these threads explicitly
typedef pthread_t THREAD_HANDLE;
#define THREAD_FUNC_RETURN void*
#define THREAD_FUNC static void*
#define THREAD_RETURN return nullptr

/// Runs function(argument) on a new thread. Stack size 0 means the usual size. Cuts `name` to 15 letters. Throws
/// platform_error.
inline THREAD_HANDLE startThread(THREAD_FUNC_RETURN (*function)(void*), void* argument, int stackSize = 0,
                                 const char* name = nullptr) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stackSize > 0)
        pthread_attr_setstacksize(&attributes, std::max<std::size_t>(static_cast<std::size_t>(stackSize),
                                                                     static_cast<std::size_t>(PTHREAD_STACK_MIN)));
    THREAD_HANDLE thread;
    int failed = pthread_create(&thread, &attributes, function, argument);
    pthread_attr_destroy(&attributes);
    if (failed)
        throw flow::platform_error();
    if (name)
        pthread_setname_np(thread, std::string(name).substr(0, 15).c_str());
    return thread;
}
inline void waitThread(THREAD_HANDLE thread) {
    pthread_join(thread, nullptr);
}
