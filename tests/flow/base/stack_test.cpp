#include "flow/base/stack.h"

#include "tests/flow/support/death.h"
#include "tests/flow/support/sanitizers.h"
#include "tests/flow/support/small_stack.h"

#include <algorithm>
#include <cfenv>
#include <csignal>
#include <cstdint>
#include <doctest/doctest.h>
#include <memory>
#include <sys/resource.h>
#include <ucontext.h>
#include <vector>

using namespace flow;

namespace {

std::uintptr_t here() {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

/// Sanitizers make it larger than it was to be.
std::size_t stackBytes() {
    pthread_attr_t attributes;
    std::size_t bytes = 0;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
    return bytes;
}

/// Where the stack is short.
std::uintptr_t descend(int level) {
    volatile char room[256];
    room[level % 256] = 1;
    return stackIsShort() ? here() : descend(level + 1) + room[level % 256] - 1;
}

} // namespace

TEST_CASE("stack: there is room at first, and a quarter is kept, of a large one 1 MiB") {
    CHECK_FALSE(stackIsShort());
    for (std::size_t wanted : {std::size_t{256} << 10, std::size_t{16} << 20}) {
        flow::test::onSmallStack(wanted, [] {
            std::size_t bytes = stackBytes(); // the thread may have been given a larger one
            std::size_t kept = std::min(bytes / 4, std::size_t{1} << 20);
            CHECK_FALSE(stackIsShort());
            std::uintptr_t used = here() - descend(0);
            CHECK(used < bytes - kept + 4096);
            CHECK(used + bytes / 10 > bytes - kept);
            CHECK_FALSE(stackIsShort());
        });
    }
}

namespace {

/// The level of withRoom() that takes place on another stack than the one before.
int levelElsewhere(std::uintptr_t before) {
    std::uintptr_t place = here();
    int level = 0;
    if (before - place < 64 << 10)
        withRoom([&] { level = 1 + levelElsewhere(place); });
    return level;
}

} // namespace

TEST_CASE("stack: the size of a foreign stack is unknown, so levels are counted") {
    flow::test::onForeignStack([] {
        CHECK(levelElsewhere(here()) == 33);
        onNewStack([] { CHECK_FALSE(stackIsShort()); });
        CHECK(levelElsewhere(here()) == 33);
    });
    CHECK_FALSE(stackIsShort());
}

TEST_CASE("stack: a new one has room, and afterwards the old one is current again") {
    flow::test::onSmallStack(256 << 10, [] {
        bool isShort = true;
        std::uintptr_t outside = here();
        std::uintptr_t inside = outside;
        onNewStack([&] {
            isShort = stackIsShort();
            inside = here();
        });
        CHECK_FALSE(isShort);
        CHECK((inside > outside ? inside - outside : outside - inside) > stackBytes());
        CHECK_FALSE(stackIsShort());
    });
}

TEST_CASE("stack: a thread keeps one, and nested calls have others") {
    std::uintptr_t first = 0, second = 0, inner = 0;
    onNewStack([&] { first = here(); });
    onNewStack([&] {
        second = here();
        onNewStack([&] { inner = here(); });
    });
    CHECK(first - second + 4096 < 8192);
    CHECK(inner - second + 4096 >= 8192);
}

TEST_CASE("stack: what the work does to signals and to rounding stays") {
    sigset_t unblocked;
    sigemptyset(&unblocked);
    sigaddset(&unblocked, SIGUSR2);
    pthread_sigmask(SIG_UNBLOCK, &unblocked, nullptr);
    onNewStack([&] {
        pthread_sigmask(SIG_BLOCK, &unblocked, nullptr);
        std::fesetround(FE_UPWARD);
    });
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    CHECK(sigismember(&blocked, SIGUSR2) == 1);
    CHECK(std::fegetround() == FE_UPWARD);
    std::fesetround(FE_TONEAREST);
    pthread_sigmask(SIG_UNBLOCK, &unblocked, nullptr);
}

// The sanitizers need more than what is left.
#if !FLOW_SYSTEM_BLOCKS && !MILLRACE_UNDER_TSAN
TEST_CASE("stack: without memory for one the program ends with a message") {
    test::Death death = test::runInChild([] {
        rlimit none{1 << 20, 1 << 20};
        setrlimit(RLIMIT_AS, &none);
        onNewStack([] { onNewStack([] {}); }); // of which the thread may have the first already
    });
    CHECK(death.aborted());
    CHECK(death.says("no memory for the stack"));
}
#endif

// The sanitizers would need annotations for these switches.
#if !FLOW_SYSTEM_BLOCKS && !MILLRACE_UNDER_TSAN
namespace {

/// Two fibers that leave their new stacks in the order in which they came to them.
struct Switching {
    static constexpr std::size_t kBytes = 256 << 10;
    ucontext_t main{}, fibers[2]{};
    std::unique_ptr<char[]> stacks[2];
    bool isShort = true;

    void start(int index, void (*body)()) {
        stacks[index].reset(new char[kBytes]);
        getcontext(&fibers[index]);
        fibers[index].uc_stack.ss_sp = stacks[index].get();
        fibers[index].uc_stack.ss_size = kBytes;
        fibers[index].uc_link = &main;
        makecontext(&fibers[index], body, 0);
        swapcontext(&main, &fibers[index]);
    }
    void stopHere(int index) { swapcontext(&fibers[index], &main); }
    void goOn(int index) { swapcontext(&main, &fibers[index]); }
};
Switching* switching;

} // namespace

TEST_CASE("stack: fibers may leave new ones in any order") {
    Switching both;
    switching = &both;
    both.start(0, [] { onNewStack([] { switching->stopHere(0); }); });
    both.start(1, [] {
        onNewStack([] {
            switching->stopHere(1);
            switching->isShort = stackIsShort();
        });
    });
    CHECK_FALSE(stackIsShort());
    both.goOn(0);
    CHECK_FALSE(stackIsShort());
    both.goOn(1);
    CHECK_FALSE(both.isShort);
    CHECK_FALSE(stackIsShort());
}
#endif

namespace {

/// As deep as one likes.
int count(int levels) {
    int result = 0;
    if (levels != 0)
        withRoom([&] { result = 1 + count(levels - 1); });
    return result;
}

} // namespace

TEST_CASE("stack: recursion continues on the next stack, and exceptions are caught within each") {
    flow::test::onSmallStack(256 << 10, [] {
        CHECK(count(flow::test::kManyLinks) == flow::test::kManyLinks);
        bool caught = false;
        onNewStack([&] {
            try {
                throw 1;
            } catch (int) {
                caught = true;
            }
        });
        CHECK(caught);
    });
}
