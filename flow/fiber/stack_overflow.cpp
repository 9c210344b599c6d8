#include "flow/fiber/detail/stack_overflow.h"

#include "flow/base/format.h"
#include "flow/fiber/fiber.h"

#include <csignal>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace flow::fiber::detail {
namespace {

struct sigaction before; // the action for SIGSEGV that onFault() replaced

void append(char*& to, char const* end, char const* text, std::size_t most = ~std::size_t{0}) {
    for (; *text && to != end && most != 0; --most)
        *to++ = *text++;
}
void append(char*& to, char const* end, std::size_t number) {
    char digits[24];
    char* first = digits + sizeof digits;
    *--first = 0;
    do
        *--first = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    append(to, end, first);
}

// Runs in a signal handler, so it calls only functions that are allowed there.
void report(Fiber const& fiber) {
    char text[512];
    char* to = text;
    char const* end = text + sizeof text;
    append(to, end, "flow: the fiber \"");
    append(to, end, fiber.name(), 256); // leaves room for the rest of the message
    append(to, end, "\" has used up its stack of ");
    append(to, end, fiber.stack().bytes);
    append(to, end, " bytes: give it more by fiber::Options::stackBytes\n");
    if (::write(STDERR_FILENO, text, static_cast<std::size_t>(to - text)) < 0)
        return;
}

void onFault(int signal, siginfo_t* info, void* context) {
    Fiber const* fiber = currentFiber;
    auto* place = static_cast<char*>(info->si_addr);
    if (fiber && place >= fiber->stack().memory && place < fiber->stack().begin()) {
        report(*fiber);
    } else if (before.sa_flags & SA_SIGINFO) {
        return before.sa_sigaction(signal, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        return before.sa_handler(signal);
    }
    std::signal(signal, SIG_DFL); // the instruction runs again after the return, and its fault ends the program
}

/// Installs onFault(). Installs it again if the default action was restored since the last call. A handler that the
/// program installed later stays: like every handler, it calls the handler that it replaced, which is onFault(). If
/// onFault() called it too, the calls would never end.
void installHandler() {
    static std::mutex mutex; // two threads may make their first fibers at the same time
    static bool wasInstalled = false;
    std::lock_guard lock(mutex);
    struct sigaction current;
    if (::sigaction(SIGSEGV, nullptr, &current) == 0 && std::exchange(wasInstalled, true) &&
        ((current.sa_flags & SA_SIGINFO) || current.sa_handler != SIG_DFL))
        return;
    struct sigaction action = {};
    action.sa_sigaction = onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGSEGV, &action, &before);
}

/// This thread's stack for signals: an overflowed stack has no room. The program's own signal stack stays.
class SignalStack {
public:
    SignalStack() {
        stack_t current;
        if (::sigaltstack(nullptr, &current) != 0 || !(current.ss_flags & SS_DISABLE))
            return;
        memory_ = std::make_unique<char[]>(kBytes);
        stack_t mine = {};
        mine.ss_sp = memory_.get();
        mine.ss_size = kBytes;
        ::sigaltstack(&mine, nullptr);
    }
    SignalStack(SignalStack const&) = delete;
    SignalStack& operator=(SignalStack const&) = delete;
    ~SignalStack() {
        if (!memory_)
            return;
        stack_t none = {};
        none.ss_flags = SS_DISABLE;
        ::sigaltstack(&none, nullptr);
    }

private:
    static constexpr std::size_t kBytes = 64 << 10;
    std::unique_ptr<char[]> memory_;
};

} // namespace

void reportOverflows() {
    installHandler();
    static thread_local SignalStack stack;
    (void)&stack;
}

} // namespace flow::fiber::detail
