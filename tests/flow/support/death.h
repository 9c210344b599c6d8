#pragma once
// Runs a piece of code in a child process and returns how that ended and its standard error.
//
//     Death death = runInChild([] { promise.send(2); });
//     CHECK(death.signal == SIGABRT);
//     CHECK(death.says("set twice"));

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <ostream> // lets doctest print strings
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

namespace flow::test {

struct Death {
    int status = -1; // of exit, or -1
    int signal = 0;  // that ended the child, or 0
    std::string text;

    bool aborted() const { return signal == SIGABRT; }
    bool says(const char* part) const { return text.find(part) != std::string::npos; }
};

/// The child exits with the int that `body` returns, or with 0 where it returns nothing. What atexit() has
/// registered does not run: the functions of oneTBB fail under ThreadSanitizer in a child of a process with several
/// threads.
template <class Body>
Death runInChild(Body&& body) {
    std::fflush(nullptr);
    int ends[2];
    if (::pipe(ends) != 0)
        std::abort();
    pid_t child = ::fork();
    if (child < 0)
        std::abort();
    if (child == 0) {
        for (int number : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTERM}) // doctest's would report a failed test
            std::signal(number, SIG_DFL);
        rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
        ::dup2(ends[1], STDERR_FILENO);
        ::close(ends[0]);
        ::close(ends[1]);
        int status = 0;
        if constexpr (std::is_same_v<decltype(body()), int>)
            status = body();
        else
            body();
        std::fflush(nullptr);
        ::_exit(status);
    }
    ::close(ends[1]);
    Death death;
    char buffer[1024];
    for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
        death.text.append(buffer, static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status))
        death.status = WEXITSTATUS(status);
    else
        death.signal = WTERMSIG(status);
    return death;
}

} // namespace flow::test

/// The statement ends the program with an assertion message that contains `message`.
#define CHECK_DIES(statement, message)                                                                                 \
    do {                                                                                                               \
        flow::test::Death death_ = flow::test::runInChild([&] { statement; });                                         \
        INFO("standard error: ", death_.text);                                                                         \
        CHECK(death_.aborted());                                                                                       \
        CHECK(death_.says(message));                                                                                   \
    } while (0)

/// The same for a misuse that stands on one line, which the message names.
#define CHECK_NAMES_CALLER(...)                                                                                        \
    do {                                                                                                               \
        flow::test::Death death_ = flow::test::runInChild([&] { __VA_ARGS__; });                                       \
        std::string here_ = "] at " __FILE__ ":" + std::to_string(__LINE__) + "\n";                                    \
        CHECK(death_.aborted());                                                                                       \
        CHECK_MESSAGE(death_.says(here_.c_str()), death_.text);                                                        \
    } while (false)
