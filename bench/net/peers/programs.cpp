// The echo servers of bench/net/echo.cpp that are programs of their own, since they are written in other languages.

#include "bench/net/echo.h"
#include "flow/base/error.h"
#include "flow/base/parse_number.h"

#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

std::string firstLine(int descriptor) {
    std::string line;
    for (char each; ::read(descriptor, &each, 1) == 1 && each != '\n';)
        line += each;
    return line;
}

/// Starts the program, and waits for its end.
void serve(std::string program, int connections, bench::Listening const& listening) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        throw flow::platform_error();
    std::string count = std::to_string(connections);
    char* arguments[] = {program.data(), count.data(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    pid_t child = 0;
    int failed = ::posix_spawn(&child, program.c_str(), &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    auto port = failed ? std::nullopt : flow::parseNumber<std::uint16_t>(firstLine(ends[0]));
    ::close(ends[0]);
    if (port)
        listening(*port);
    if (!failed)
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    if (!port)
        throw flow::platform_error();
}

[[maybe_unused]] bool add(std::string const& server, std::string const& program) {
    return bench::addEcho(
        server,
        [program](int connections, bench::Listening const& listening) { serve(program, connections, listening); },
        bench::Calls::ByKernel);
}

#if defined(MILLRACE_ECHO_TOKIO)
bool const tokio = add("tokio", MILLRACE_ECHO_TOKIO);
#endif
#if defined(MILLRACE_ECHO_GO)
bool const go = add("go", MILLRACE_ECHO_GO);
#endif

} // namespace
