#pragma once
// Datagrams of a SimNetwork: the sockets, and the datagrams in flight.

#include "flow/core/ring_queue.h"
#include "net/sim/detail/host.h"

namespace flow::net {

/// A simulated socket. It gets a turn in the loop of its process when a datagram arrives.
class SimDatagramSocket final : public DatagramSocket, WaiterNode {
public:
    static constexpr std::size_t kRoom = 256 * 1024; // bytes that may wait to be received

    SimDatagramSocket(Host& host, Address address);
    ~SimDatagramSocket() override { close(); }

    void close() override;
    Address localAddress() const override { return address_; }

    std::string sourceOf(void const* what) {
        return isFirstReceive(what) ? "a datagram to " + address_.toString() : std::string();
    }

    /// Takes a datagram, or drops it if there is no room. The Host calls this function.
    void arrive(Datagram datagram);
    /// Ends the socket when its process stops. Its operations never complete.
    void stop();

    // For the network, which has the list of datagrams in flight.

    static void drop(ListLink* flight);
    static void lookAgain(ListLink& flights);

private:
    struct Flight;

    bool fill() noexcept override { return false; }
    void sendAll(std::span<Datagram> datagrams) override;
    void onTaken(Datagram const& datagram) override { bytes_ -= static_cast<std::size_t>(datagram.bytes.size()); }
    void launch(Host& to, std::uint16_t port, Bytes bytes);

    Host* host_; // null: closed
    Address address_;
    std::size_t bytes_ = 0;
};

} // namespace flow::net
