#include "flow/inspect/detail/signal_sampler.h"

#include "flow/base/detail/sentence.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <link.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

namespace flow {
namespace {

using Word = std::uint64_t;

constexpr std::size_t kMostWords = 4'000'000;
constexpr std::size_t kMostAddresses = 64;
constexpr long kMicroseconds = 997; // not round, so that samples are not in step with periodic work
constexpr std::size_t kStackBytes = 32768;

/// A buffer for a copy of a stack. Static, because the handler's stack may be short, for example a fiber's.
struct Copy {
    std::atomic<bool> isTaken;
    Word words[kStackBytes / sizeof(Word)];
};
constexpr int kCopies = 8; // the largest number of threads that are sampled at the same time
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

/// Writes the addresses on the stack to `out` behind the first `count`. Returns the new count. Code without frame
/// pointers may leave any address in the frame register. So the kernel copies the stack, and the walk stays within it.
std::size_t walk(Registers const& at, Word* copy, Word* out, std::size_t count = 0) noexcept {
    iovec to{copy, kStackBytes};
    iovec from{reinterpret_cast<void*>(at.stack), kStackBytes};
    // nondeterminism: the program itself.
    ssize_t size = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
    if (size <= 0) { // part of the range is not mapped: copies the pages before it
        std::size_t left = 4096 - at.stack % 4096;
        iovec parts[8];
        for (std::size_t i = 0; i < 8; ++i)
            parts[i] = {reinterpret_cast<void*>(i == 0 ? at.stack : at.stack + left + (i - 1) * 4096),
                        i == 0 ? left : 4096};
        // nondeterminism: the program itself.
        size = ::process_vm_readv(::getpid(), &to, 1, parts, 8, 0);
    }
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

/// Libraries such as libc have no frame pointers, so walk() alone would miss the program's function that called them.
/// So the unwinder goes from the interrupted library to the first function in the program's file. From there on, walk()
/// follows the frame pointers. The unwinder takes no lock in a handler: with glibc 2.35 or later it finds its tables by
/// _dl_find_object(), which may be called in handlers. The unwinder does not check its tables. The tables of libraries
/// are right, so it is used only for libraries, and never reaches generated code or the bottom of a fiber's stack.
struct Leaving {
    Registers at;
    Word begin, end; // of the program's file in memory
    Word* out;
    std::size_t count = 0;
    bool isInterruptedCode = false; // false: a frame of the handler

    bool isInProgram(Word code) const { return code >= begin && code < end; }
};

constinit std::atomic<Word> programBegin{0}, programEnd{0}; // 0: the unwinder is not used

_Unwind_Reason_Code leave(_Unwind_Context* frame, void* argument) {
    auto& leaving = *static_cast<Leaving*>(argument);
    Word code = _Unwind_GetIP(frame);
    leaving.isInterruptedCode = leaving.isInterruptedCode || code == leaving.at.pc;
    if (!leaving.isInterruptedCode)
        return _URC_NO_REASON;
    if (leaving.isInProgram(code)) {
#if defined(__x86_64__)
        constexpr int kFrame = 6;
#else
        constexpr int kFrame = 29;
#endif
        leaving.at = {code, _Unwind_GetGR(frame, kFrame), leaving.at.stack};
        return _URC_NORMAL_STOP;
    }
    if (leaving.count + 2 >= kMostAddresses)
        return _URC_NORMAL_STOP;
    leaving.out[leaving.count++] = code;
    return _URC_NO_REASON;
}

/// Like walk(), but also finds the callers of libraries.
std::size_t walkFromLibrary(Registers const& at, Word* copy, Word* out) noexcept {
    Leaving leaving{at, programBegin, programEnd, out};
    if (leaving.begin == leaving.end || leaving.isInProgram(at.pc))
        return walk(at, copy, out);
    _Unwind_Backtrace(leave, &leaving);
    bool isFound = leaving.isInProgram(leaving.at.pc);
    return isFound ? walk(leaving.at, copy, out, leaving.count) : walk(at, copy, out);
}

/// Finds the program's file, and calls the unwinder once, since its first call prepares it. Not for handlers.
void prepareUnwinder() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35) && (defined(__x86_64__) || defined(__aarch64__))
    auto find = [](dl_phdr_info* file, std::size_t, void* code) {
        for (int i = 0; i < file->dlpi_phnum; ++i) {
            auto const& part = file->dlpi_phdr[i];
            Word begin = file->dlpi_addr + part.p_vaddr;
            if (part.p_type != PT_LOAD || *static_cast<Word const*>(code) - begin >= part.p_memsz)
                continue;
            programEnd = begin + part.p_memsz;
            programBegin = begin;
            return 1;
        }
        return 0;
    };
    auto code = reinterpret_cast<Word>(&prepareUnwinder);
    ::dl_iterate_phdr(find, &code);
    _Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_NO_REASON; }, nullptr);
#endif
}

/// The request of sampleStack().
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
    Word* const out = words.load(); // read after the increment: the destructor waits for counted handlers
    Registers registers;
    Word found[kMostAddresses];
    int self = ::gettid(); // nondeterminism: no simulation is sampled
    bool isWanted = wanted.thread.compare_exchange_strong(self, 0);
    Copy* copy = copies;
    while (copy != copies + kCopies && copy->isTaken.exchange(true))
        ++copy;
    if (copy != copies + kCopies && isWanted && registersOf(context, registers)) {
        wanted.count = walkFromLibrary(registers, copy->words, wanted.found);
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
    std::string_view reason = systemText(errno);
    if (file >= 0)
        ::close(file);
#if !defined(__x86_64__) && !defined(__aarch64__)
    mapped = MAP_FAILED;
    reason = systemText(ENOTSUP);
#endif
    if (mapped == MAP_FAILED) {
        isSampled = false;
        throw withPieces(io_error(), {"write \"", path, "\": ", reason});
    }
    used = 0;
    words = static_cast<Word*>(mapped);
    copyMaps(path + ".maps");
    catchSignal();
    setTimer(kMicroseconds);
}

SignalSampler::~SignalSampler() {
    setTimer(0); // the handler stays, since a signal may be pending
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
    if (programBegin == 0)
        prepareUnwinder();
    catchSignal();
    wanted.count = 0;
    wanted.isDone = false;
    wanted.thread = thread;
    // nondeterminism: no simulation is sampled.
    bool isSent = ::tgkill(::getpid(), thread, SIGPROF) == 0;
    for (int i = 0; isSent && i < kTries && !wanted.isDone; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));         // nondeterminism: as above
    if (int same = thread; wanted.thread.compare_exchange_strong(same, 0)) // from now on no handler begins a sample
        return {};
    while (!wanted.isDone)
        std::this_thread::yield(); // nondeterminism: as above
    std::vector<void*> stack;
    for (std::size_t i = 0; i < wanted.count; ++i)
        stack.push_back(reinterpret_cast<void*>(wanted.found[i] + (i == 0)));
    return stack;
}

} // namespace flow
