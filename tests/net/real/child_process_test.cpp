#include "net/real/child_process.h"

#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/memory/standalone.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/connection.h"
#include "net/poll/network_poller.h"
#include "net/sim/sim_network.h"
#include "tests/flow/support/death.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

ChildOptions shell(std::string script) {
    ChildOptions options{.program = "sh", .arguments = {"-c", std::move(script)}};
    options.input = options.output = options.error = ChildStream::Connected;
    return options;
}

/// Whether there is neither such a process nor its zombie.
bool isGone(int id) {
    return ::kill(id, 0) != 0 && errno == ESRCH;
}

Future<Void> awaitGone(int id) {
    for (int i = 0; i < 1000 && !isGone(id); ++i)
        co_await delay(0.01);
    CHECK(isGone(id));
}

Error errorOfSpawn(ChildOptions const& options) {
    try {
        (void)spawn(options);
        return Error();
    } catch (Error& error) {
        return error;
    }
}

} // namespace

TEST_CASE("child process: a program that ignores SIGCHLD learns that a child has ended, with each poller") {
    for (char const* poller : {"epoll", "uring"}) {
        if (std::string(poller) == "uring" && !hasUring())
            continue;
        CAPTURE(std::string(poller));
        ChosenPoller chosen(poller);
        Death death = runInChild([] {
            std::signal(SIGCHLD, SIG_IGN);
            auto test = []() -> Future<Void> {
                static constexpr char const* kScripts[] = {"exit 3", "sleep 0.05; exit 3", "kill -9 $$"};
                for (char const* script : kScripts)
                    for (int i = 0; i < 10; ++i) { // some end before spawn() returns
                        ChildOptions options{.program = "sh", .arguments = {"-c", script}};
                        Reference<ChildProcess> child = spawn(options);
                        ExitStatus status = co_await timeoutError(child->onExit(), 30);
                        if (status != ExitStatus{-1, 0})
                            throw operation_failed();
                    }
            };
            RealLoop loop;
            loop.run(test());
        });
        CHECK_MESSAGE(death.status == 0, death.text);
    }
}

TEST_CASE("child process: its streams, arguments, environment and directory") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        ChildOptions options = shell("echo \"$1 $NAME\"; pwd; cat; echo bad >&2; exit 7");
        options.arguments.insert(options.arguments.end(), {"sh", "two words"});
        options.environment = {"NAME=value", "PATH=/usr/bin:/bin"};
        options.directory = "/";
        Reference<ChildProcess> child = spawn(options);
        Future<ExitStatus> exit = child->onExit();
        Future<std::string> output = readAll(child->output()), error = readAll(child->error());
        Bytes large = makeString(1'000'000); // more than any buffer between them
        std::memset(mutateString(large), 'x', 1'000'000);
        co_await child->input()->write(large);
        child->input()->shutdownWrite();
        std::string text = co_await output;
        CHECK(text.size() == 1'000'000 + 18);
        CHECK(text.starts_with("two words value\n/\nxxx"));
        std::string complaint = co_await error;
        CHECK(complaint == "bad\n");
        ExitStatus status = co_await exit;
        CHECK(status == ExitStatus{7, 0});
        CHECK_FALSE(status.isSuccess());
        ExitStatus again = co_await child->onExit();
        CHECK(again == status);
        child->kill(SIGTERM); // no reader
    };
    loop.run(test());
}

TEST_CASE("child process: a signal ends it, and dropping it kills it and leaves no zombie") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<ChildProcess> child = spawn(shell("exit 0"));
        ExitStatus ended = co_await child->onExit();
        CHECK(ended.isSuccess());
        child = spawn(shell("sleep 1000"));
        child->kill(SIGTERM);
        ExitStatus terminated = co_await child->onExit();
        CHECK(terminated == ExitStatus{0, SIGTERM});
        int id = child->id();
        CHECK(isGone(id));
        child = spawn(shell("trap '' TERM; echo ready; while :; do sleep 1000; done"));
        id = child->id();
        Future<ExitStatus> exit = child->onExit();
        co_await child->output()->readUntil("\n"_sr, 100);
        child.clear();
        Error dropped = co_await endOf(exit);
        CHECK(dropped == broken_promise());
        co_await awaitGone(id);
    };
    loop.run(test());
}

TEST_CASE("child process: the end of the network kills it") {
    int id = 0;
    Reference<ChildProcess> child;
    {
        RealLoop loop;
        auto test = [&]() -> Future<Void> {
            child = spawn(shell("sleep 1000"));
            id = child->id();
            co_return;
        };
        loop.run(test());
        CHECK_FALSE(isGone(id));
    }
    CHECK(isGone(id));
}

TEST_CASE("child process: what cannot be started") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Error missing = errorOfSpawn({.program = "there-is-no-such-program"});
        CHECK(missing == file_not_found());
        CHECK(missing.what() == std::string("start \"there-is-no-such-program\": No such file or directory"));
        CHECK(errorOfSpawn({.program = "/etc/passwd"}) == not_allowed());
        CHECK(errorOfSpawn({.program = "true", .directory = "/no/such/directory"}) == file_not_found());
        ChildOptions silent = shell("cat; echo x; exit 3");
        silent.input = silent.output = silent.error = ChildStream::Null;
        Reference<ChildProcess> child = spawn(silent);
        CHECK_FALSE(child->input());
        ExitStatus status = co_await child->onExit();
        CHECK(status.code == 3);
    };
    loop.run(test());
    World world(1);
    SimNetwork network(world);
    Process& process = world.start({.name = "p", .main = []() -> Future<Void> {
                                        CHECK(errorOfSpawn({.program = "true"}) == unsupported_operation());
                                        co_return;
                                    }});
    world.run(process.onStop());
}

TEST_CASE("child process: one that cannot be watched is killed, and no descriptor is closed twice") {
    {
        RealLoop other; // UBSan opens a pipe when it sees an object's class for the first time
        RealNetwork network(other);
        spawn({.program = "true"});
    }
    ChosenPoller chosen("epoll"); // which opens no descriptor before it is used
    RealLoop loop;
    RealNetwork network(loop);
    rlimit before, few;
    ::getrlimit(RLIMIT_NOFILE, &before);
    int next = ::dup(0);
    ::close(next);
    few = {static_cast<rlim_t>(next) + 1, before.rlim_max}; // for the child's, not for the poller's
    ::setrlimit(RLIMIT_NOFILE, &few);
    Error error;
    try {
        spawn({.program = "sleep", .arguments = {"1000"}});
    } catch (Error& thrown) {
        error = thrown;
    }
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK(error == platform_error());
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1); // no child is left
    int again = ::dup(0);
    CHECK(again == next);
    ::close(again);
}
