#include "net/real/detail/real_socket.h"

#include "flow/loop/real_loop.h"
#include "net/poll/detail/polled_descriptor.h"
#include "net/transport.h"
#include <doctest/doctest.h>

#include <asm-generic/socket.h>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace flow;
using namespace flow::net;

TEST_CASE("real socket: each way in which a connection fails has its error") {
    CHECK(errorOfSystem(ECONNREFUSED) == connection_refused());
    CHECK(errorOfSystem(ETIMEDOUT) == connection_timed_out());
    CHECK(errorOfSystem(ENETUNREACH) == host_unreachable());
    CHECK(errorOfSystem(EHOSTUNREACH) == host_unreachable());
    CHECK(errorOfSystem(ECONNRESET) == connection_reset());
    CHECK(errorOfSystem(EPIPE) == connection_reset());
    CHECK(errorOfSystem(EADDRINUSE) == address_in_use());
    CHECK(errorOfSystem(EADDRNOTAVAIL) == invalid_local_address());
    CHECK(errorOfSystem(EACCES) == not_allowed());
    CHECK(errorOfSystem(EMFILE) == platform_error());
}

TEST_CASE("real socket: does not block, is not inherited, and has its options") {
    SocketOptions options;
    options.receiveBuffer = 50'000;
    OpenDescriptor opened(openSocket(Address(0x7F000001, 0), SOCK_STREAM, options));
    CHECK((::fcntl(opened.get(), F_GETFL) & O_NONBLOCK) != 0);
    CHECK((::fcntl(opened.get(), F_GETFD) & FD_CLOEXEC) != 0);
    int size = 0;
    socklen_t length = sizeof size;
    ::getsockopt(opened.get(), SOL_SOCKET, SO_RCVBUF, &size, &length);
    CHECK(size == 100'000); // the kernel doubles it for its own needs
    CHECK_THROWS_AS(setOption(opened.get(), SOL_SOCKET, -1, 1), Error);
}

TEST_CASE("real socket: a released descriptor is closed unless it is taken") {
    int number;
    {
        OpenDescriptor opened(::dup(0));
        number = opened.get();
    }
    CHECK(::fcntl(number, F_GETFD) == -1);
    OpenDescriptor taken(::dup(0));
    int mine = taken.release();
    CHECK(taken.get() == -1);
    CHECK(::close(mine) == 0);
}

namespace {

/// Its constructor fails after the base has taken the descriptor.
class Failing final : public ReferenceCounted<Failing>, public RealSocket {
public:
    Failing(RealNetwork& network, OpenDescriptor opened) : RealSocket(network, std::move(opened)) {
        throw platform_error();
    }
    void onNews(News) noexcept override {}
    bool isAwaited() const override { return false; }
};

} // namespace

TEST_CASE("real socket: the constructor of a derived class fails, and the descriptor is closed once") {
    RealLoop loop;
    RealNetwork network(loop);
    OpenDescriptor opened(::dup(0));
    int number = opened.get();
    CHECK_THROWS_AS((void)makeReference<Failing>(network, std::move(opened)), Error);
    CHECK(::fcntl(number, F_GETFD) == -1);
    OpenDescriptor other(::dup(0)); // gets the number, which nobody may close again
    REQUIRE(other.get() == number);
    {
        OpenDescriptor late = std::move(opened);
    }
    CHECK(::fcntl(number, F_GETFD) != -1);
}
