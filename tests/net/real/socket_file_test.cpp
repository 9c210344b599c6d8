// The file of a datagram socket at a Unix path. That of a listener: real_listener_test.cpp.
#include "net/real/detail/socket_file.h"

#include "flow/combine/timeout.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "net/real/real_network.h"
#include "tests/flow/support/temporary_directory.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// True if a datagram to `path` reaches `socket`.
bool receivesAt(RealLoop& loop, Reference<DatagramSocket> const& socket, std::string const& path) {
    auto test = [](Reference<DatagramSocket> to, std::string at) -> Future<bool> {
        Reference<DatagramSocket> from = transport().bind(Address::unixAbstract(at));
        from->send(Address::unixPath(at), "hello"_sr);
        Optional<Datagram> got = co_await timeout(to->receive(), 5.0);
        co_return got.present() && got->from == from->localAddress();
    };
    return loop.run(test(socket, path));
}

} // namespace

TEST_CASE("socket file: that of a datagram socket goes with it, and one that was left behind is replaced") {
    for (bool closes : {true, false}) {
        TemporaryDirectory here;
        std::string path = here.path() + "/socket";
        pid_t child = ::fork();
        if (child == 0) { // a program that is killed leaves its file
            RealLoop loop;
            Reference<DatagramSocket> socket = transport().bind(Address::unixPath(path));
            ::_exit(std::filesystem::exists(path) ? 0 : 1);
        }
        int status = -1;
        ::waitpid(child, &status, 0);
        CHECK(status == 0);
        CHECK(std::filesystem::exists(path));
        Reference<DatagramSocket> socket;
        {
            RealLoop loop;
            socket = transport().bind(Address::unixPath(path));
            CHECK(receivesAt(loop, socket, path));
            if (closes)
                socket->close();
        }
        CHECK_FALSE(std::filesystem::exists(path));
    }
}

TEST_CASE("socket file: a socket in use is not replaced, by one of the other type neither") {
    TemporaryDirectory here;
    std::string path = here.path() + "/socket", other = here.path() + "/listener";
    RealLoop loop;
    Reference<DatagramSocket> socket = transport().bind(Address::unixPath(path));
    Reference<Listener> listener = transport().listen(Address::unixPath(other));
    for (std::string const& each : {path, other}) {
        CHECK_THROWS_AS((void)transport().bind(Address::unixPath(each)), Error);
        CHECK_THROWS_AS((void)transport().listen(Address::unixPath(each)), Error);
    }
    CHECK(receivesAt(loop, socket, path));
}

TEST_CASE("socket file: an old datagram socket does not remove the file of a new one, nor does a child of fork()") {
    TemporaryDirectory here;
    std::string path = here.path() + "/socket";
    RealLoop loop;
    auto network = std::make_unique<RealNetwork>(loop);
    Reference<DatagramSocket> old = network->bind(Address::unixPath(path), {});
    ::unlink(path.c_str());
    Reference<DatagramSocket> next = network->bind(Address::unixPath(path), {});
    old->close();
    CHECK(receivesAt(loop, next, path));
    pid_t child = ::fork();
    if (child == 0) {
        next->close();
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    CHECK(receivesAt(loop, next, path));
    next->close();
    CHECK_FALSE(std::filesystem::exists(path));
}
