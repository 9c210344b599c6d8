#include "flow/inspect/reports.h"

#include "flow/inspect/async_stack.h"
#include "flow/inspect/detail/all_loops.h"
#include "flow/inspect/detail/profile_request.h"
#include "flow/inspect/pending_report.h"
#include "flow/inspect/wait_times.h"
#include "flow/loop/real_loop.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

namespace flow {
using namespace detail;
namespace {

constexpr std::size_t kShown = 30;

/// Prints `head`, asyncStack() and dumpPending() to standard error. Prints nothing if all three are empty.
void print(char const* head, std::size_t limit) noexcept {
    static constinit thread_local bool isPrinting = false;
    if (std::exchange(isPrinting, true)) // an assertion failed in the report itself
        return;
    try {
        std::string text = head + asyncStack();
        bool isAsked = !text.empty();
        dumpPending(text, {PendingFormat::Text, limit});
        if (isAsked || !text.starts_with("0 "))
            std::fputs(text.c_str(), stderr);
    } catch (...) { // no memory for the report
    }
    isPrinting = false;
}

// -------------------------------------------------------------------------------------------------------------------
// SIGQUIT

/// The entry of a loop that prints reports, and the Waiter that the signal handler posts: a handler cannot allocate.
struct Asked : Waiter, LoopOwned {
    std::atomic<Loop*> loop{nullptr};
    std::atomic<bool> isTaken{false};
    std::atomic<bool> isPosted{false};
};

constexpr int kMostLoops = 64;
constinit Asked* asked = nullptr; // an array of kMostLoops; made before the handler is installed
constinit std::atomic<bool> isOn{false};
constinit std::atomic<int> handlers{0}; // the number of signal handlers that run now

void onQuit(int) {
    handlers.fetch_add(1);
    for (int i = 0; i < kMostLoops; ++i)
        if (Loop* loop = asked[i].loop.load(); loop && !asked[i].isPosted.exchange(true))
            loop->putIntoInbox(asked[i], TaskPriority::Max);
    handlers.fetch_sub(1);
}

void ask(Loop& loop) {
    for (int i = 0; i < kMostLoops; ++i) {
        Asked& each = asked[i];
        if (each.loop.load() == &loop)
            return;
        if (each.isTaken.exchange(true))
            continue;
        each.isPosted = false;
        each.awaited = Awaited::turn();
        each.resume = [](Waiter* waiter) {
            auto& self = *static_cast<Asked*>(waiter);
            waiter->awaited = Awaited::turn();
            self.isPosted = false;
            print("flow: SIGQUIT: ", 1000);
        };
        each.destroy = [](Waiter* waiter) { // the loop ends before the waiter has run
            auto& self = *static_cast<Asked*>(waiter);
            self.isPosted = false;
            self.isTaken = false;
        };
        each.end = [](LoopOwned* owned) {
            auto& self = *static_cast<Asked*>(owned);
            self.loop = nullptr;
            while (handlers.load() != 0) // a running handler may have read the pointer to the loop
                // nondeterminism: no signal is expected in a simulation.
                std::this_thread::yield();
            if (!self.isPosted)
                self.isTaken = false;
        };
        loop.add(each);
        each.loop = &loop;
        return;
    }
}

// -------------------------------------------------------------------------------------------------------------------
// Failures

constinit AssertionHandler assertionBefore = nullptr;

void onAssertion(char const* message, char const* file, int line, char const* actor) {
    if (assertionBefore)
        assertionBefore(message, file, line, actor);
    if (hasLoop())
        print("", kShown);
}

void install() {
    assertionBefore = setAssertionHandler(nullptr); // must be read before another thread can call onAssertion
    setAssertionHandler(onAssertion);
    static std::terminate_handler before;
    before = std::set_terminate([] {
        if (hasLoop() && std::current_exception())
            print("", kShown);
        before();
    });
    char const* variable = std::getenv("MILLRACE_REPORT_ON_QUIT");
    if (variable && std::strcmp(variable, "1") == 0)
        reportOnQuit();
    sampleIfAsked();
}

} // namespace

void reportOnQuit() {
    static Asked* const made = new Asked[kMostLoops]; // never freed, since a handler may run until the end
    asked = made;
    struct sigaction action = {};
    action.sa_handler = onQuit;
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGQUIT, &action, nullptr);
    isOn = true;
    if (auto* current = hasLoop() ? dynamic_cast<RealLoop*>(&Loop::current()) : nullptr)
        ask(*current);
}

void detail::realLoopMade(RealLoop& loop) {
    [[maybe_unused]] static bool const once = (install(), true);
    noteLoop(loop);
    if (isOn)
        ask(loop);
    profileIfAsked(loop);
    timeWaitsIfAsked(loop);
}

} // namespace flow
