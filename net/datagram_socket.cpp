#include "net/datagram_socket.h"

#include "flow/base/format.h"

#include <net/if.h>

namespace flow::net {

Datagram Receive::take() {
    if (socket->error_.isValid())
        throw socket->error_;
    Datagram const& first = socket->received_.front();
    TurnBudget::useBytes(static_cast<std::size_t>(first.bytes.size()));
    socket->onTaken(first);
    return socket->received_.pop();
}

Drain DatagramSocket::send(std::span<Datagram> datagrams) {
    if (error_.isValid())
        return failed(error_);
    for (Datagram const& each : datagrams)
        if (each.bytes.size() > kLargest)
            return failed(client_invalid_operation().withSentence(format(
                "DatagramSocket: a datagram has %d bytes; at most %d can be sent", each.bytes.size(), kLargest)));
    sendAll(datagrams);
    return room();
}

void DatagramSocket::changeGroup(Address const&, unsigned, bool) {
    throw unsupported_operation().withSentence("a DatagramSocket of a simulation joins no multicast groups");
}

unsigned interfaceIndex(std::string const& name) {
    if (unsigned index = ::if_nametoindex(name.c_str()))
        return index;
    throw client_invalid_operation().withSentence("there is no network interface \"" + name + "\"");
}

void DatagramSocket::fail(Error error) {
    error_ = error;
    while (!received_.isEmpty())
        received_.pop();
    receiversMayTry();
    wakeDrains();
}

void DatagramSocket::failWaiters() noexcept {
    Error error = error_.isValid() ? error_ : operation_obsolete();
    if (receivers_.isWaitedFor())
        receivers_.failAll(error);
    if (drains_.isWaitedFor())
        drains_.failAll(error);
}

} // namespace flow::net
