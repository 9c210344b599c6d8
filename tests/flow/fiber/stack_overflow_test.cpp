#include "flow/fiber/detail/stack_overflow.h"

#include "flow/fiber/fiber.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/death.h"

#include <csignal>
#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace flow;

namespace {

/// Uses at least 512 bytes of stack a level.
int recurse(int levels) {
    int (*volatile next)(int) = recurse; // so that the compiler makes no loop of it
    char room[512] = {1};
    asm volatile("" : : "r"(room) : "memory");
    return levels == 0 ? 0 : next(levels - 1) + room[0];
}

/// The same, but the memory that it touches lies far below the last.
int depthOfLarge(int levels) {
    int (*volatile next)(int) = depthOfLarge;
    char room[40'000];
    asm volatile("" : : "r"(room) : "memory");
    room[0] = 1;
    return levels == 0 ? 0 : next(levels - 1) + room[0];
}

} // namespace

TEST_CASE("stack overflow: is reported with the name, the size and the setting") {
    test::Death death = test::runInChild([] {
        fiber::setPooledStacks(0); // the handler is there once a stack has been mapped
        SimLoop loop;
        fiber::Options options;
        options.stackBytes = 32 << 10;
        options.name = "recursion";
        Future<int> overflows = fiber::spawn([] { return recurse(100000); }, options);
    });
    CHECK(death.signal == SIGSEGV);
    CHECK(death.says("the fiber \"recursion\" has used up its stack of 32768 bytes: give it more by "
                     "fiber::Options::stackBytes"));
}

TEST_CASE("stack overflow: a long name leaves room for the size and the setting, and no name is no fault") {
    static std::string const name(1000, 'n');
    for (char const* given : {name.c_str(), static_cast<char const*>(nullptr)}) {
        test::Death death = test::runInChild([&] {
            fiber::setPooledStacks(0); // the handler is there once a stack has been mapped
            SimLoop loop;
            fiber::Options options;
            options.stackBytes = 52 << 10;
            options.name = given;
            Future<int> overflows = fiber::spawn([] { return recurse(100000); }, options);
        });
        INFO("standard error: ", death.text);
        CHECK(death.signal == SIGSEGV);
        CHECK(death.says(given ? "flow: the fiber \"nnnnn" : "flow: the fiber \"unnamed\""));
        CHECK(death.says("\" has used up its stack of 53248 bytes: give it more by fiber::Options::stackBytes\n"));
    }
}

TEST_CASE("stack overflow: the smallest stack is 16 KiB, whatever is requested") {
    test::Death death = test::runInChild([] {
        fiber::setPooledStacks(0); // the handler is there once a stack has been mapped
        SimLoop loop;
        fiber::Options options;
        options.stackBytes = 0;
        Future<int> overflows = fiber::spawn([] { return recurse(100000); }, options);
    });
    CHECK(death.signal == SIGSEGV);
    CHECK(death.says("has used up its stack of 16384 bytes"));
}

TEST_CASE("stack overflow: a function with large arrays does not reach over the guard pages") {
    test::Death death = test::runInChild([] {
        fiber::setPooledStacks(0); // the handler is there once a stack has been mapped
        SimLoop loop;
        fiber::Options options;
        options.name = "large arrays";
        Future<Void> below = fiber::spawn([] { fiber::sleep(1); }); // its stack may lie below the next one
        Future<int> overflows = fiber::spawn([] { return depthOfLarge(100); }, options);
    });
    INFO("standard error: ", death.text);
    CHECK(death.signal == SIGSEGV);
    CHECK(death.says("the fiber \"large arrays\" has used up its stack of 262144 bytes"));
}

TEST_CASE("stack overflow: is reported on each thread, and on a stack from the pool") {
    test::Death death = test::runInChild([] {
        std::thread thread([] {
            SimLoop loop;
            fiber::Options options;
            options.name = "second";
            Future<int> first = fiber::spawn([] { return recurse(10); }, options);
            Future<int> overflows = fiber::spawn([] { return recurse(100000); }, options);
        });
        thread.join();
    });
    CHECK(death.signal == SIGSEGV);
    CHECK(death.says("the fiber \"second\" has used up its stack of 262144 bytes"));
}

TEST_CASE("stack overflow: a fault elsewhere goes to the handler that was there before") {
    test::Death death = test::runInChild([] {
        std::signal(SIGSEGV, [](int) { ::_exit(7); });
        SimLoop loop;
        fiber::Options options;
        options.stackBytes = 36 << 10; // a stack that is not in the pool
        Future<Void> faults = fiber::spawn([] { *static_cast<int volatile*>(nullptr) = 1; }, options);
    });
    CHECK(death.status == 7);
}

TEST_CASE("stack overflow: a handler that is installed later and calls ours is called once") {
    static struct sigaction ours;
    test::Death death = test::runInChild([] {
        fiber::setPooledStacks(0); // each fiber's stack is mapped
        SimLoop loop;
        Future<Void> first = fiber::spawn([] {});
        struct sigaction theirs = {};
        theirs.sa_flags = SA_SIGINFO | SA_ONSTACK;
        theirs.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
            if (::write(STDERR_FILENO, "theirs\n", 7) == 7)
                ours.sa_sigaction(signal, info, context);
        };
        ::sigaction(SIGSEGV, &theirs, &ours);
        fiber::Options options;
        options.name = "later";
        Future<int> second = fiber::spawn([] { return recurse(100000); }, options);
    });
    INFO("standard error: ", death.text);
    CHECK(death.signal == SIGSEGV);
    CHECK(death.says("theirs\nflow: the fiber \"later\" has used up its stack"));
    CHECK(death.text.find("theirs", 1) == std::string::npos);
}

TEST_CASE("stack overflow: threads may have their first fibers at a time") {
    test::Death death = test::runInChild([] {
        std::signal(SIGSEGV, [](int) { ::_exit(7); });
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([] {
                SimLoop loop;
                Future<Void> first = fiber::spawn([] {});
            });
        for (std::thread& each : threads)
            each.join();
        *static_cast<int volatile*>(nullptr) = 1;
    });
    CHECK(death.status == 7);
}
