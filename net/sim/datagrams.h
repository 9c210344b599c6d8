#pragma once
// Datagrams of a SimNetwork: the sockets, and what is on its way between them.

#include "flow/core/ring_queue.h"
#include "net/sim/host.h"

namespace flow::net {

/// Waits in the loop of its process for its turn when there is something to tell.
class SimDatagramSocket final : public DatagramSocket, flow::detail::Waiter {
public:
    static constexpr std::size_t kRoom = 256 * 1024; // bytes that may wait to be received

    SimDatagramSocket(Host& host, Address address);
    ~SimDatagramSocket() override { close(); }

    Future<Void> send(Address to, Bytes bytes) override;
    Future<Datagram> receive() override;
    void close() override;
    Address localAddress() const override { return address_; }

    std::string sourceOf(flow::detail::Cell const* cell) const {
        return sets(receiving_, cell) ? "a datagram to " + address_.toString() : std::string();
    }

    /// By the machine.
    void arrive(Datagram datagram);
    /// The process stops.
    void stop();

    // What is on its way, in the network's list.

    static void drop(flow::detail::Link* flight);
    static void lookAgain(flow::detail::Link& flights);

private:
    struct Flight;

    void launch(Host& to, std::uint16_t port, Bytes bytes);
    void wake();
    Datagram take();

    Host* host_; // null: closed
    Address address_;
    flow::detail::RingQueue<Datagram> received_;
    std::size_t bytes_ = 0;
    std::optional<Promise<Datagram>> receiving_;
};

} // namespace flow::net
