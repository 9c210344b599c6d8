#include "net/real/detail/real_listener.h"

#include "flow/combine/all.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/transport.h"
#include "tests/net/file_descriptor_suite.h"

#include <doctest/doctest.h>

#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

TEST_CASE("real listener: a listener without descriptors pauses, and continues when there are some") {
    RealLoop loop;
    RealNetwork network(loop);
    auto test = [](RealNetwork& network) -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        Address at = listener->localAddress();
        // From here on the poller has its descriptors, and UBSan, which opens a pipe for each new class, knows all.
        Reference<Connection> first = co_await transport().connect(at);
        co_await listener->accept();
        rlimit before, one;
        ::getrlimit(RLIMIT_NOFILE, &before);
        int free = ::dup(0);
        ::close(free);
        one = {static_cast<rlim_t>(free) + 1, before.rlim_max}; // for the client
        ::setrlimit(RLIMIT_NOFILE, &one);
        Future<Reference<Connection>> accepting = keep(listener->accept());
        co_await delay(0);
        Future<Reference<Connection>> connecting = transport().connect(at);
        std::uint64_t calls = network.counters().sockets.reads;
        co_await delay(0.35);
        calls = network.counters().sockets.reads - calls;
        ::setrlimit(RLIMIT_NOFILE, &before);
        CHECK(!accepting.isReady());
        CHECK(calls >= 1);
        CHECK(calls <= 6);
        Reference<Connection> server = co_await accepting;
        co_await connecting;
    };
    loop.run(test(network));
}

TEST_CASE("real listener: an accepted connection that was not taken is reset when the listener closes") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
        Accept accept = listener->accept();
        Reference<Connection> client = co_await transport().connect(listener->localAddress());
        CHECK(accept.isReady()); // the kernel has given it; the loser of a race would leave it here
        listener->close();
        Error error = co_await endOf(readAll(client));
        CHECK(error == connection_reset());
    };
    loop.run(test());
}

TEST_CASE("real listener: tryAccept() takes what the kernel has accepted ahead, and a later accept() waits again") {
    onEachPoller([] {
        RealLoop loop;
        auto test = []() -> Future<Void> {
            Reference<Listener> listener = transport().listen(Address(0x7F000001, 0));
            sockaddr_storage at = {};
            unsigned size = listener->localAddress().toSystem(at);
            Future<Reference<Connection>> waiting = keep(listener->accept());
            co_await delay(0.002); // the poller has the listener
            constexpr int kClients = 20;
            std::vector<int> clients;
            for (int i = 0; i < kClients; ++i) {
                clients.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
                CHECK(::connect(clients.back(), reinterpret_cast<sockaddr*>(&at), size) == 0);
            }
            waiting = {};
            int taken = 0;
            while (Reference<Connection> each = listener->tryAccept())
                ++taken;
            CHECK(taken == kClients);
            waiting = keep(listener->accept());
            co_await delay(0.002);
            Reference<Connection> last = co_await transport().connect(listener->localAddress());
            co_await std::move(waiting);
            for (int each : clients)
                ::close(each);
        };
        loop.run(test());
    });
}

TEST_CASE("real listener: several listen at one port if they say so") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        ListenOptions shared;
        shared.reusePort = true;
        Reference<Listener> first = transport().listen(Address(0x7F000001, 0), shared);
        Reference<Listener> second = transport().listen(first->localAddress(), shared);
        for (int i = 0; i < 20; ++i) {
            Future<Reference<Connection>> connecting = transport().connect(first->localAddress());
            auto either = co_await race(first->accept(), second->accept());
            Reference<Connection> client = co_await connecting;
            CHECK(client.isValid());
        }
    };
    loop.run(test());
}

TEST_CASE("real listener: of [::], takes IPv4 as well unless it says otherwise") {
    RealLoop loop;
    auto test = []() -> Future<Void> {
        for (bool onlyV6 : {false, true}) {
            ListenOptions options;
            options.onlyV6 = onlyV6;
            Reference<Listener> listener = transport().listen(*Address::parse("[::]:0"), options);
            Address here(0x7F000001, listener->localAddress().port());
            Error refused = co_await endOf(transport().connect(here));
            CHECK(refused == (onlyV6 ? connection_refused() : Error()));
            Error reached =
                co_await endOf(transport().connect(*Address::parse("[::1]:" + std::to_string(here.port()))));
            CHECK(reached == Error());
        }
    };
    loop.run(test());
}

namespace {

/// A path of a Unix socket that no other test has.
std::string freePath(char const* name) {
    return "/tmp/millrace-listener-" + std::to_string(::getpid()) + name;
}

bool isReached(RealLoop& loop, std::string const& path) {
    return loop.run(endOf(transport().connect(Address::unixPath(path)))) == Error();
}

/// For each poller, and for a listener that closes or whose loop ends.
void forEachEnd(void (*test)(bool closes)) {
    for (char const* poller : {"epoll", "uring"})
        for (bool closes : {true, false}) {
            if (std::string(poller) == "uring" && !hasUring())
                continue;
            INFO(std::string(poller));
            INFO(closes);
            ChosenPoller chosen(poller);
            test(closes);
        }
}

} // namespace

TEST_CASE("real listener: the file of a Unix socket goes with its listener") {
    forEachEnd([](bool closes) {
        std::string path = freePath("a");
        Reference<Listener> listener;
        {
            RealLoop loop;
            listener = transport().listen(Address::unixPath(path));
            CHECK(isReached(loop, path));
            if (closes)
                listener->close();
        }
        CHECK(::access(path.c_str(), F_OK) != 0);
    });
}

TEST_CASE("real listener: an old listener does not remove the file of a new one at its path") {
    forEachEnd([](bool closes) {
        std::string path = freePath("b");
        RealLoop loop;
        auto network = std::make_unique<RealNetwork>(loop);
        Reference<Listener> old = network->listen(Address::unixPath(path), {});
        if (closes) {
            ::unlink(path.c_str());
            Reference<Listener> next = network->listen(Address::unixPath(path), {});
            old->close();
            CHECK(isReached(loop, path));
            next->close();
            CHECK(::access(path.c_str(), F_OK) != 0);
        } else {
            std::string other = freePath("c");
            Reference<Listener> next = network->listen(Address::unixPath(other), {});
            CHECK(::rename(other.c_str(), path.c_str()) == 0); // as a program does that replaces a socket
            old->close();
            CHECK(isReached(loop, path));
            network.reset();
            CHECK(::access(path.c_str(), F_OK) == 0); // the new one does not know its new name
            ::unlink(path.c_str());
        }
    });
}

TEST_CASE("real listener: a child of fork() that ends its copy of a listener leaves the file to its parent") {
    forEachEnd([](bool closes) {
        std::string path = freePath("d");
        RealLoop loop;
        auto network = std::make_unique<RealNetwork>(loop);
        Reference<Listener> listener = network->listen(Address::unixPath(path), {});
        Future<Reference<Connection>> accepting = keep(listener->accept());
        CHECK(isReached(loop, path));
        pid_t child = ::fork();
        if (child == 0) {
            ::alarm(20);
            if (closes)
                listener->close();
            else
                network.reset();
            ::_exit(0);
        }
        int status = -1;
        ::waitpid(child, &status, 0);
        CHECK(status == 0);
        accepting = keep(listener->accept());
        CHECK(isReached(loop, path));
        loop.run(success(accepting));
        listener->close();
        CHECK(::access(path.c_str(), F_OK) != 0);
    });
}
