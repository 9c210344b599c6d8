#include "net/real/detail/uring_sockets.h"

#include "flow/base/error.h"
#include "net/real/real_network.h"
#include "tests/flow/support/descriptors.h"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace flow;
using namespace flow::net;

namespace {

Address loopback(std::uint16_t port = 0) {
    return Address(0x7F000001, port);
}
int optionOf(int descriptor, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    CHECK(::getsockopt(descriptor, level, name, &value, &size) == 0);
    return value;
}

} // namespace

TEST_CASE("uring sockets: more than a batch of them listen, with their options") {
    auto sockets = UringSockets::make();
    if (!sockets)
        return; // this kernel cannot do it
    std::vector<Address> at(UringSockets::kBatch + 6, loopback());
    SocketOption options[] = {{SOL_SOCKET, SO_REUSEADDR, 1}, {IPPROTO_IPV6, IPV6_V6ONLY, 1}};
    std::vector<int> made = sockets->open(at, SOCK_STREAM, options, 16);
    CHECK(made.size() == at.size());
    for (int each : made) {
        CHECK(optionOf(each, SOL_SOCKET, SO_ACCEPTCONN) == 1);
        CHECK(optionOf(each, SOL_SOCKET, SO_REUSEADDR) == 1);
        ::close(each);
    }
    std::vector<int> unconnected = sockets->open(at, SOCK_DGRAM, {}, 0);
    for (int each : unconnected) {
        CHECK(optionOf(each, SOL_SOCKET, SO_TYPE) == SOCK_DGRAM);
        ::close(each);
    }
}

TEST_CASE("uring sockets: all or none, and the error of the first that fails") {
    auto sockets = UringSockets::make();
    if (!sockets)
        return;
    RealLoop loop;
    RealNetwork network(loop);
    Reference<Listener> taken = network.listen(loopback());
    auto before = test::openDescriptors();
    std::vector<Address> at(UringSockets::kBatch + 6, loopback());
    at[3] = at[UringSockets::kBatch + 2] = taken->localAddress();
    for (int i = 0; i < 2; ++i) { // what is cancelled behind an error is not in the way of the next
        CHECK_THROWS_AS((void)sockets->open(at, SOCK_STREAM, {}, 16), Error);
        CHECK(test::openDescriptors() == before);
        at[3] = loopback();
    }
    std::vector<Reference<Listener>> listeners;
    Error error;
    try {
        listeners = network.listenMany(at);
    } catch (Error& thrown) {
        error = thrown;
    }
    CHECK(error == address_in_use());
    at.resize(UringSockets::kBatch);
    listeners = network.listenMany(at);
    CHECK(listeners.size() == at.size());
}

TEST_CASE("uring sockets: the child of a fork has its own") {
    auto sockets = UringSockets::make();
    if (!sockets)
        return;
    CHECK(!sockets->isOfParent());
    pid_t child = ::fork();
    if (child == 0) {
        bool isOfParent = sockets->isOfParent();
        sockets = UringSockets::make();
        std::vector<Address> at(10, loopback());
        ::_exit(isOfParent && sockets->open(at, SOCK_STREAM, {}, 16).size() == 10 ? 7 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WEXITSTATUS(status) == 7);
    std::vector<Address> at(10, loopback());
    for (int each : sockets->open(at, SOCK_STREAM, {}, 16))
        ::close(each);
}
