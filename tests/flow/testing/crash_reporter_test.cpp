#include "flow/testing/detail/crash_reporter.h"

#include "tests/flow/support/death.h"
#include "tests/flow/support/sanitizers.h"

#include <doctest/doctest.h>

using flow::testing::CrashReporter;

namespace {

template <class Body>
flow::test::Death withWords(Body body, int limit = 60) {
    return flow::test::runInChild([&] {
        ::dup2(STDERR_FILENO, STDOUT_FILENO);
        CrashReporter words("/some/test", "  again: do it\n", limit);
        body();
    });
}

} // namespace

TEST_CASE("crash reporter: a test that ends is not reported") {
    CHECK(withWords([] {}).text.empty());
    CHECK(withWords([] {}).status == 0);
}

#if !MILLRACE_UNDER_TSAN // it does not deliver signals in a child of a process with several threads
TEST_CASE("crash reporter: a crash is named before the program ends as it would") {
    flow::test::Death death = withWords([] { std::abort(); });
    CHECK(death.text == "FAILED /some/test: it aborted\n  again: do it\n");
    CHECK(death.aborted());
    death = withWords([] { std::raise(SIGTERM); });
    CHECK(death.says("FAILED /some/test: the program was asked to end"));
    CHECK(death.signal == SIGTERM);
    death = withWords([] { std::raise(SIGSEGV); });
    CHECK(death.says("FAILED /some/test: it used memory that is not there"));
    CHECK(death.signal == SIGSEGV);
    death = withWords([] { std::raise(SIGFPE); });
    CHECK(death.says("FAILED /some/test: it did what the machine cannot do"));
}

TEST_CASE("crash reporter: a test without end is ended") {
    flow::test::Death death = withWords(
        [] {
            for (;;)
                ::pause();
        },
        1);
    CHECK(death.status == 1);
    CHECK(death.says("FAILED /some/test: it ran too long for --limit\n  again: do it\n"));
}
#endif

TEST_CASE("crash reporter: handlers of the program are kept, and its own are removed") {
    flow::test::Death death = flow::test::runInChild([] {
        ::dup2(STDERR_FILENO, STDOUT_FILENO);
        std::signal(SIGFPE, [](int) { ::_exit(7); });
        {
            CrashReporter words("/first", "", 60);
        }
        if (std::signal(SIGABRT, SIG_DFL) != SIG_DFL)
            ::_exit(8);
        CrashReporter words("/second", "", 60);
        std::raise(SIGFPE);
    });
    CHECK(death.status == 7);
    CHECK(death.text.empty());
}
