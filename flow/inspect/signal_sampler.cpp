#include "flow/inspect/detail/signal_sampler.h"

#include "flow/base/error.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

namespace flow {
namespace {

using Word = std::uint64_t;

constexpr std::size_t kMostWords = 4'000'000;
constexpr std::size_t kMostAddresses = 64;
constexpr long kMicroseconds = 997; // not round, so that samples do not keep step with regular work of the program
constexpr std::size_t kStackBytes = 32768;

/// The buffer for a copy of a stack. It is static, because the handler's own stack may be short, for example a fiber's.
struct Copy {
    std::atomic<bool> isTaken;
    Word words[kStackBytes / sizeof(Word)];
};
constexpr int kCopies = 8; // for threads that are interrupted at the same time; further threads are not sampled
constinit Copy copies[kCopies] = {};

constinit std::atomic<Word*> words{nullptr}; // null: no sampler exists
constinit std::atomic<std::size_t> used{0};
constinit std::atomic<int> runningSamplers{0};
constinit std::atomic<bool> isSampled{false};

struct Registers {
    Word pc, frame, stack;
};

bool registersOf([[maybe_unused]] void* context, [[maybe_unused]] Registers& out) {
#if defined(__x86_64__)
    auto const& all = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    out = {static_cast<Word>(all[REG_RIP]), static_cast<Word>(all[REG_RBP]), static_cast<Word>(all[REG_RSP])};
    return true;
#elif defined(__aarch64__)
    auto const& all = static_cast<ucontext_t*>(context)->uc_mcontext;
    out = {all.pc, all.regs[29], all.sp};
    return true;
#else
    return false;
#endif
}

/// Writes the addresses on the stack to `out`, and returns their number. Code without frame pointers may leave any
/// address in the frame register, so the kernel copies the stack, and the walk stays within the copy.
std::size_t walk(Registers const& at, Word* copy, Word* out) noexcept {
    iovec to{copy, kStackBytes};
    iovec from{reinterpret_cast<void*>(at.stack), kStackBytes};
    // nondeterminism: the program itself.
    ssize_t size = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
    if (size <= 0) { // a part of the range is not mapped: copies page by page, up to that part
        std::size_t left = 4096 - at.stack % 4096;
        iovec parts[8];
        for (std::size_t i = 0; i < 8; ++i)
            parts[i] = {reinterpret_cast<void*>(i == 0 ? at.stack : at.stack + left + (i - 1) * 4096),
                        i == 0 ? left : 4096};
        // nondeterminism: the program itself.
        size = ::process_vm_readv(::getpid(), &to, 1, parts, 8, 0);
    }
    std::size_t count = 0;
    out[count++] = at.pc;
    Word end = at.stack + (size > 0 ? static_cast<Word>(size) : 0);
    for (Word frame = at.frame; count < kMostAddresses;) {
        if (frame % sizeof(Word) != 0 || frame < at.stack || frame + 2 * sizeof(Word) > end)
            break;
        Word const* pair = copy + (frame - at.stack) / sizeof(Word);
        if (pair[1] < 4096)
            break;
        out[count++] = pair[1];
        if (pair[0] <= frame)
            break;
        frame = pair[0];
    }
    return count;
}

/// The sample that sampleStack() has asked for.
struct Wanted {
    std::atomic<int> thread{0}; // 0: none
    std::atomic<bool> isDone{false};
    std::size_t count = 0;
    Word found[kMostAddresses] = {};
};
constinit Wanted wanted = {};

void onSignal(int, siginfo_t*, void* context) {
    int before = errno;
    runningSamplers.fetch_add(1);
    Word* const out = words.load(); // read after the line above: the destructor waits for counted handlers
    Registers registers;
    Word found[kMostAddresses];
    int self = ::gettid(); // nondeterminism: no simulation is sampled
    bool isWanted = wanted.thread.compare_exchange_strong(self, 0);
    Copy* copy = copies;
    while (copy != copies + kCopies && copy->isTaken.exchange(true))
        ++copy;
    if (copy != copies + kCopies && isWanted && registersOf(context, registers)) {
        wanted.count = walk(registers, copy->words, wanted.found);
        copy->isTaken = false;
    } else if (out && copy != copies + kCopies && registersOf(context, registers)) {
        std::size_t count = walk(registers, copy->words, found);
        copy->isTaken = false;
        std::size_t place = used.fetch_add(count + 1);
        if (place + count + 1 < kMostWords) {
            for (std::size_t i = 0; i < count; ++i)
                out[place + 1 + i] = found[i];
            out[place] = count;
        }
    } else if (copy != copies + kCopies) {
        copy->isTaken = false;
    }
    if (isWanted)
        wanted.isDone = true;
    runningSamplers.fetch_sub(1);
    errno = before;
}

void copyMaps(std::string const& path) {
    int from = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    int to = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char bytes[4096];
    for (ssize_t size; from >= 0 && to >= 0 && (size = ::read(from, bytes, sizeof bytes)) > 0;)
        if (::write(to, bytes, static_cast<std::size_t>(size)) != size)
            break;
    if (from >= 0)
        ::close(from);
    if (to >= 0)
        ::close(to);
}

void catchSignal() {
    struct sigaction action = {};
    action.sa_sigaction = onSignal;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigaction(SIGPROF, &action, nullptr);
}

void setTimer(long microseconds) {
    itimerval every{{0, microseconds}, {0, microseconds}};
    ::setitimer(ITIMER_PROF, &every, nullptr);
}

} // namespace

SignalSampler::SignalSampler(std::string const& path) {
    if (isSampled.exchange(true))
        throw operation_failed();
    int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void* mapped = MAP_FAILED;
    if (file >= 0 && ::ftruncate(file, kMostWords * sizeof(Word)) == 0)
        mapped = ::mmap(nullptr, kMostWords * sizeof(Word), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        ::close(file);
#if !defined(__x86_64__) && !defined(__aarch64__)
    mapped = MAP_FAILED;
#endif
    if (mapped == MAP_FAILED) {
        isSampled = false;
        throw io_error();
    }
    used = 0;
    words = static_cast<Word*>(mapped);
    copyMaps(path + ".maps");
    catchSignal();
    setTimer(kMicroseconds);
}

SignalSampler::~SignalSampler() {
    setTimer(0); // the handler stays, since a signal may be under way
    Word* mapped = words.exchange(nullptr);
    while (runningSamplers.load() != 0)
        // nondeterminism: no simulation is sampled.
        std::this_thread::yield();
    ::munmap(mapped, kMostWords * sizeof(Word));
    isSampled = false;
}

std::vector<void*> sampleStack(int thread) {
    constexpr int kTries = 200; // a millisecond each
    static std::mutex one;
    std::lock_guard lock(one);
    catchSignal();
    wanted.count = 0;
    wanted.isDone = false;
    wanted.thread = thread;
    // nondeterminism: no simulation is sampled.
    bool isSent = ::tgkill(::getpid(), thread, SIGPROF) == 0;
    for (int i = 0; isSent && i < kTries && !wanted.isDone; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));         // nondeterminism: as above
    if (int same = thread; wanted.thread.compare_exchange_strong(same, 0)) // from here on no handler begins a sample
        return {};
    while (!wanted.isDone)
        std::this_thread::yield(); // nondeterminism: as above
    std::vector<void*> stack;
    for (std::size_t i = 0; i < wanted.count; ++i)
        stack.push_back(reinterpret_cast<void*>(wanted.found[i] + (i == 0)));
    return stack;
}

} // namespace flow
