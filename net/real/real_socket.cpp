#include "net/real/detail/real_socket.h"

#include "flow/base/detail/sentence.h"

#include <cerrno>
#include <cmath>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

namespace flow::net {

RealSocket::RealSocket(RealNetwork& network, OpenDescriptor opened)
    : PolledDescriptor(opened.release()), network_(&network) {
    pushBack(network.sockets_, static_cast<ListLink&>(*this));
}

void RealSocket::watch() {
    if (!isWatched())
        poller().add(*this);
}

void RealSocket::closeDescriptor() {
    if (!isOpen())
        return;
    if (isWatched())
        poller().remove(*this);
    ::close(std::exchange(descriptor_, -1));
}

void RealSocket::leaveNetwork() noexcept {
    closeDescriptor();
    if (isLinked())
        unlink();
    network_ = nullptr;
}

void RealSocket::resetConnection() {
    if (!isOpen())
        return;
    linger atOnce{1, 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
    closeDescriptor();
}

OpenDescriptor RealSocket::release() {
    if (isWatched())
        poller().remove(*this);
    return OpenDescriptor(std::exchange(descriptor_, -1));
}

void RealSocket::moveTo(RealSocket& other) {
    FLOW_ASSERT(!other.isOpen(), "a socket's descriptor is moved to one that has another");
    other.descriptor_ = std::exchange(descriptor_, -1);
    if (isWatched())
        poller().replace(*this, other);
}

Address RealSocket::addressHere() const {
    sockaddr_storage address = {};
    socklen_t size = sizeof address;
    if (!isOpen() || ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        return Address();
    return Address::fromSystem(reinterpret_cast<sockaddr*>(&address), size).value_or(Address());
}

void setOption(int descriptor, int level, int name, int value) {
    if (::setsockopt(descriptor, level, name, &value, sizeof value) != 0)
        throw errorOfCall(errno);
}

OpenDescriptor openSocket(Address const& address, int type, SocketOptions const& options) {
    options.check();
    int family = address.isUnix() ? AF_UNIX : address.isV4() ? AF_INET : AF_INET6;
    OpenDescriptor opened(::socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (opened.get() < 0)
        throw errorOfCall(errno);
    if (options.sendBuffer > 0)
        setOption(opened.get(), SOL_SOCKET, SO_SNDBUF, options.sendBuffer);
    if (options.receiveBuffer > 0)
        setOption(opened.get(), SOL_SOCKET, SO_RCVBUF, options.receiveBuffer);
    return opened;
}

int optionOf(int descriptor, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return ::getsockopt(descriptor, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

void bindSocket(int descriptor, Address const& at) {
    sockaddr_storage address = {};
    unsigned size = at.toSystem(address);
    if (::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) != 0)
        throw errno == ENOENT || errno == ENOTDIR ? invalid_local_address().withSentence(systemText(errno))
                                                  : errorOfCall(errno);
}

void applyOptions(int descriptor, Address const& peer, SocketOptions const& options) noexcept {
    int on = 1;
    bool isTcp = !peer.isUnix();
    // By default the kernel queues megabytes in a loopback connection. The receiver then reads each byte from memory
    // instead of from the cache, and 16 KiB messages are three times slower. Linux allows 208 KiB to every user.
    constexpr int kLoopbackBuffer = 208 * 1024;
    if (isTcp && options.sendBuffer == 0 && peer.isLoopback())
        ::setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &kLoopbackBuffer, sizeof kLoopbackBuffer);
    if (isTcp && options.noDelay)
        ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (isTcp && options.keepAlive)
        ::setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    auto setTcp = [&](int name, double value) {
        if (!isTcp || value == 0)
            return;
        int number = static_cast<int>(std::ceil(value));
        ::setsockopt(descriptor, IPPROTO_TCP, name, &number, sizeof number);
    };
    setTcp(TCP_KEEPIDLE, options.keepAliveIdle);
    setTcp(TCP_KEEPINTVL, options.keepAliveInterval);
    setTcp(TCP_KEEPCNT, options.keepAliveProbes);
    setTcp(TCP_USER_TIMEOUT, options.userTimeout * 1e3);
}

OpenDescriptor::~OpenDescriptor() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

} // namespace flow::net
