#pragma once
// Clocks, threads and the processor, under the old header name.
//
//     double begin = timer();      // seconds: the loop's clock, or the machine's where there is no loop
//
//     THREAD_FUNC work(void* argument) {
//         use(static_cast<Job*>(argument));
//         THREAD_RETURN;
//     }
//     THREAD_HANDLE thread = startThread(work, &job);
// each started thread is waited for, once
//
// Where there is a loop, g_network (network.h) gives the time. Files and paths are in ../platform_files.h, figures of
// the system in ../platform_system.h.

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

/// Does nothing: for programs that begin with it.
inline void platformInit() {}

// Converts from the byte order of this machine to another one, and back.
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
/// True if the variable is set. It is the machine's, under a simulation, too.
inline bool getEnvironmentVar(char const* name, std::string& value) {
    char const* text = std::getenv(name); // nondeterminism: it asks for the machine's by name
    if (text)
        value = text;
    return text != nullptr;
}
/// Returns 0, or an error number.
inline int setEnvironmentVar(char const* name, char const* value, int overwrite) {
    return setenv(name, value, overwrite) == 0 ? 0 : errno; // nondeterminism: it names the machine's
}

} // namespace platform

inline double timer_monotonic() {
    // nondeterminism: it asks for the machine's clock by name
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
inline double timer() {
    return flow::hasLoop() ? flow::timer() : timer_monotonic();
}
/// Nanoseconds.
inline std::uint64_t timer_int() {
    return static_cast<std::uint64_t>(::timer() * 1e9);
}
/// Blocks the thread, and with it the loop. Under a simulation, too: its time stands still meanwhile.
inline void threadSleep(double seconds) {
    // nondeterminism: only the machine's clock shows how long it was
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// nondeterminism: programs start threads by name
typedef pthread_t THREAD_HANDLE;
#define THREAD_FUNC_RETURN void*
#define THREAD_FUNC static void*
#define THREAD_RETURN return nullptr

/// Calls function(argument) on a thread of its own. A stack of 0 bytes is one of the usual size. Linux keeps the first
/// 15 letters of the name. Throws platform_error.
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
