// Each case is a process of its own, since a process says READY once, and takes its sockets once.

#include "net/service_manager.h"

#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "net/detail/service_notice.h"
#include "net/serve.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/temporary_directory.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// A socket of this type, bound to the path, or to the abstract name behind "@".
int boundTo(std::string const& path, int type) {
    sockaddr_un at = {};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, sizeof at.sun_path);
    if (path[0] == '@')
        at.sun_path[0] = '\0';
    int made = ::socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(made, reinterpret_cast<sockaddr*>(&at),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size())) == 0);
    return made;
}

/// The service manager of a test.
struct Manager {
    TemporaryDirectory folder;
    int notices;

    explicit Manager(bool isAbstract = false) {
        std::string path = isAbstract ? "@millrace-test-" + std::to_string(::getpid()) : folder.path() + "/notify";
        notices = boundTo(path, SOCK_DGRAM | SOCK_NONBLOCK);
        ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    }
    ~Manager() {
        ::close(notices);
        for (char const* each :
             {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"})
            ::unsetenv(each);
    }
    /// What the program has said, with a space behind each.
    std::string heard() {
        std::string all;
        char text[200];
        for (ssize_t size; (size = ::read(notices, text, sizeof text)) > 0;)
            all += std::string(text, static_cast<std::size_t>(size)) + " ";
        return all;
    }
};

Future<Void> serveNothing(Reference<Connection>) {
    return Void();
}

Future<Void> serveTwo(Future<Void> stop) {
    Future<Void> both[] = {serveUntil(transport().listen(Address(0x7F000001, 0)), serveNothing, stop, 1.0),
                           serveUntil(transport().listen(Address(0x7F000001, 0)), serveNothing, stop, 1.0)};
    for (Future<Void>& each : both)
        co_await std::move(each);
}

/// Fails in the parent if the two differ in the child.
int same(std::string const& got, std::string const& expected) {
    if (got != expected)
        std::fprintf(stderr, "got \"%s\", expected \"%s\"\n", got.c_str(), expected.c_str());
    return got != expected;
}

} // namespace

TEST_CASE("service manager: is told once that the servers accept, and once that they end") {
    for (bool isAbstract : {false, true}) {
        Manager manager(isAbstract);
        Death child = runInChild([&] {
            RealLoop loop;
            Promise<Void> stop;
            Future<Void> serving = serveTwo(stop.getFuture());
            int faults = same(manager.heard(), "");
            loop.run(delay(0.002));
            faults += same(manager.heard(), "READY=1 ");
            notifyStatus("12 clients\nREADY=1");
            notifyReloading();
            faults += same(manager.heard().substr(0, 45), "STATUS=12 clients RELOADING=1\nMONOTONIC_USEC=");
            notifyReady();
            stop.send(Void());
            loop.run(std::move(serving));
            faults += same(manager.heard(), "READY=1 STOPPING=1 ");
            Future<Void> again = serveTwo(Void());
            loop.run(std::move(again));
            return faults + same(manager.heard(), "");
        });
        CHECK_MESSAGE(child.status == 0, child.text);
    }
}

TEST_CASE("service manager: the watchdog hears from a loop that turns, and not from one that is stuck") {
    Manager manager;
    ::setenv("WATCHDOG_USEC", "10000", 1);
    Death child = runInChild([&] {
        RealLoop loop;
        Promise<Void> stop;
        Future<Void> serving = serveTwo(stop.getFuture());
        std::string heard;
        while (heard.size() < std::string_view("READY=1 WATCHDOG=1 WATCHDOG=1 ").size()) {
            loop.run(delay(0.005));
            heard += manager.heard();
        }
        int faults = heard.starts_with("READY=1 WATCHDOG=1 WATCHDOG=1 ") ? 0 : 1;
        ::usleep(20'000);
        return faults + same(manager.heard(), "");
    });
    CHECK_MESSAGE(child.status == 0, child.text);
}

TEST_CASE("service manager: nothing is said for a simulation, without a manager, or if the program says it itself") {
    Manager manager;
    Death child = runInChild([&] {
        {
            SimLoop loop;
            net::ServiceNotice notice;
            notice.stopping();
            loop.run(delay(1.0));
        }
        RealLoop loop;
        withholdReady();
        Promise<Void> stop;
        Future<Void> serving = serveTwo(stop.getFuture());
        loop.run(delay(0.002));
        int faults = same(manager.heard(), "");
        faults += notifyReady() ? 0 : 1;
        faults += same(manager.heard(), "READY=1 ");
        ::unsetenv("NOTIFY_SOCKET");
        faults += notifyReady() ? 1 : 0;
        ::setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
        return faults + (notifyReady() ? 1 : 0);
    });
    CHECK_MESSAGE(child.status == 0, child.text);
}

TEST_CASE("service manager: its sockets are listeners with names, and it keeps their files") {
    Manager manager;
    std::string path = manager.folder.path() + "/socket";
    Death child = runInChild([&] {
        int sockets[] = {boundTo(path, SOCK_STREAM), ::socket(AF_INET, SOCK_STREAM, 0)};
        for (int i : {0, 1}) {
            ::listen(sockets[i], 5);
            ::dup2(::dup(sockets[i]), 20 + i);
        }
        for (int i : {0, 1})
            ::dup2(20 + i, 3 + i);
        ::setenv("LISTEN_FDS", "2", 1);
        ::setenv("LISTEN_FDNAMES", "control", 1);
        RealLoop loop;
        ::setenv("LISTEN_PID", "1", 1);
        int faults = passedListeners().empty() ? 0 : 1; // they are another process's
        ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
        std::vector<PassedListener> passed = passedListeners();
        faults += passed.size() != 2 || !passedListeners().empty();
        faults += same(passed[0].name + " " + passed[1].name, "control unknown");
        faults += same(passed[0].listener->localAddress().toString(), Address::unixPath(path).toString());
        auto exchange = [](Reference<Listener> listener) -> Future<Void> {
            for (int i = 0; i < 2; ++i) {
                Reference<Connection> client = co_await transport().connect(listener->localAddress());
                Reference<Connection> server = co_await listener->accept();
                co_await client->write("hello"_sr);
                (void)co_await server->readExactly(5);
            }
        };
        for (PassedListener& each : passed)
            loop.run(exchange(each.listener));
        passed.clear();
        return faults + (std::filesystem::exists(path) ? 0 : 1);
    });
    CHECK_MESSAGE(child.status == 0, child.text);
}

TEST_CASE("service manager: what is no listening socket is refused with a sentence") {
    auto sentence = [](char const* count) {
        return runInChild([count] {
            ::dup2(::open("/dev/null", 0), 3);
            ::setenv("LISTEN_FDS", count, 1);
            RealLoop loop;
            (void)transport().listen(Address(0x7F000001, 0)); // so that the poller's descriptors are others
            try {
                (void)passedListeners();
            } catch (Error& error) {
                std::fputs(error.what(), stderr);
            }
            return ::fcntl(3, F_GETFD) < 0 ? 0 : 1;
        });
    };
    Death refused = sentence("1");
    CHECK(refused.status == 0);
    CHECK(refused.text == "adoptListener(): descriptor 3 is no socket that listens for connections");
    CHECK(sentence("many").text == "LISTEN_FDS is \"many\"; it must be a number");
}
