// The helpers of trace_log.h that need the system, and their own test.
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace flow::test {

std::string abortMessage(void (*body)()) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], 2);
        std::signal(SIGABRT, SIG_DFL); // doctest's handler would report the child's end as its own
        body();
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string said;
    char buffer[4096];
    for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        said.append(buffer, static_cast<std::size_t>(n));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? said : "lived";
}

} // namespace flow::test

TEST_CASE("support: only an abort has a message") {
    CHECK(flow::test::abortMessage([] {
              std::fputs("so long", stderr);
              std::abort();
          }) == "so long");
    CHECK(flow::test::abortMessage([] {}) == "lived");
}
