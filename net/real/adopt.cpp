#include "net/real/adopt.h"

#include "flow/base/format.h"
#include "net/real/detail/real_datagrams.h"
#include "net/real/detail/real_listener.h"

#include <fcntl.h>

namespace flow::net {
namespace {

/// Calls getsockname() or getpeername(). Returns nothing if the socket has no such address.
template <class Ask>
std::optional<Address> addressOf(int descriptor, Ask ask) {
    sockaddr_storage address = {};
    socklen_t size = sizeof address;
    if (ask(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        return {};
    return Address::fromSystem(reinterpret_cast<sockaddr*>(&address), size).value_or(Address());
}

/// Makes the socket non-blocking if `isRight`. Otherwise throws an Error that names `function` and `what`.
RealNetwork& prepare(int descriptor, bool isRight, char const* function, char const* what,
                     SocketOptions const& options) {
    options.check();
    auto* network = dynamic_cast<RealNetwork*>(&transport());
    if (!network)
        throw unsupported_operation();
    if (!isRight || ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK) != 0)
        throw client_invalid_operation().withSentence(format("%s: descriptor %d is no %s", function, descriptor, what));
    return *network;
}

} // namespace

Reference<Connection> adoptConnection(int descriptor, SocketOptions const& options) {
    std::optional<Address> peer = addressOf(descriptor, ::getpeername);
    RealNetwork& network = prepare(descriptor, peer && optionOf(descriptor, SO_TYPE) == SOCK_STREAM,
                                   "adoptConnection()", "connected stream socket", options);
    bool isUnix = optionOf(descriptor, SO_DOMAIN) == AF_UNIX;
    applyOptions(descriptor, isUnix ? Address::unixPath("/") : *peer, options);
    return makeReference<RealConnection>(network, OpenDescriptor(descriptor), *peer, options.readStrategy,
                                         Reference<FirstReads>());
}

Reference<Listener> adoptListener(int descriptor, ListenOptions const& options) {
    std::optional<Address> at = addressOf(descriptor, ::getsockname);
    bool isRight = at && optionOf(descriptor, SO_TYPE) == SOCK_STREAM && optionOf(descriptor, SO_ACCEPTCONN) == 1;
    RealNetwork& network =
        prepare(descriptor, isRight, "adoptListener()", "socket that listens for connections", options);
    return makeReference<RealListener>(network, OpenDescriptor(descriptor), *at, options, SocketFile(Address()));
}

Reference<DatagramSocket> adoptDatagramSocket(int descriptor, DatagramOptions const& options) {
    std::optional<Address> at = addressOf(descriptor, ::getsockname);
    RealNetwork& network = prepare(descriptor, at && optionOf(descriptor, SO_TYPE) == SOCK_DGRAM,
                                   "adoptDatagramSocket()", "socket for datagrams", options);
    return makeReference<RealDatagramSocket>(network, OpenDescriptor(descriptor), *at, options.readStrategy,
                                             SocketFile(Address()));
}

} // namespace flow::net
