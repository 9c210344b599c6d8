#include "net/sim/detail/datagrams.h"

#include "flow/sim/detail/inject.h"

namespace flow::net {

/// A datagram in flight. It waits on the world's loop until it arrives.
struct SimDatagramSocket::Flight final : WaiterNode, ListLink, FastAllocated<Flight> {
    Flight(SimNetwork& n, Cable& c, Host& t, std::uint16_t p, Datagram d, double a)
        : WaiterNode{[](WaiterNode* waiter) { static_cast<Flight*>(waiter)->arrive(); },
                     {nullptr},
                     {nullptr, nullptr},
                     {}},
          network(n), cable(c), to(t), port(p), datagram(std::move(d)), at(a) {
        pushBack(network.flights_, static_cast<ListLink&>(*this));
        park(at);
    }
    ~Flight() { ListLink::unlink(); }

    void park(double time) { network.world_.parkUntil(this, time, TaskPriority::ReadSocket); }
    void arrive() {
        double now = network.world_.now();
        bool isCut = cable.cutUntil > now;
        if (!isCut && cable.clogUntil > now)
            return park(cable.clogUntil);
        std::unique_ptr<Flight> landed(this);
        if (isCut || !to.isPowered())
            return;
        network.noteArrival(cable, SimNetwork::Kind::Datagram, datagram.bytes);
        to.arrive(port, std::move(datagram));
    }

    SimNetwork& network;
    Cable& cable;
    Host& to;
    std::uint16_t port;
    Datagram datagram;
    double at; // the time of arrival without delays
};

void SimDatagramSocket::drop(ListLink* flight) {
    auto* dropped = static_cast<Flight*>(flight);
    detach(dropped);
    delete dropped;
}

void SimDatagramSocket::lookAgain(ListLink& flights) {
    for (auto* link = flights.next; link != &flights; link = link->next) {
        auto* flight = static_cast<Flight*>(link);
        detach(flight);
        flight->park(flight->at);
    }
}

SimDatagramSocket::SimDatagramSocket(Host& host, Address address)
    : WaiterNode{[](WaiterNode* waiter) { static_cast<SimDatagramSocket*>(waiter)->receiversMayTry(); },
                 {nullptr},
                 {nullptr, nullptr},
                 {}},
      host_(&host), address_(address) {
    host.sockets_[address.port()] = this;
}

void SimDatagramSocket::sendAll(std::span<Datagram> datagrams) {
    SimNetwork& network = *host_->network_;
    World::Kernel kernel(network.world_);
    for (Datagram& each : datagrams) {
        Address const& to = each.from;
        Host* receiver = to.isLoopback() ? host_ : network.hostAt(to);
        if (!receiver)
            continue;
        std::uint64_t link = network.cable(host_->process(), receiver->process()).id();
        bool isLost = network.world_.injects(FaultKind::datagramLoss, link);
        bool isDouble = network.world_.injects(FaultKind::datagramDuplicate, link);
        for (int copies = !isLost + isDouble; copies > 0; --copies)
            launch(*receiver, to.port(), each.bytes);
    }
}

void SimDatagramSocket::launch(Host& to, std::uint16_t port, Bytes bytes) {
    SimNetwork& network = *host_->network_;
    Cable& cable = network.cable(host_->process(), to.process());
    double at = network.arrivalOf(cable, static_cast<std::size_t>(bytes.size()));
    if (network.world_.injects(FaultKind::datagramReorder, cable.id()))
        at += faultDuration(network.world_.random(FaultKind::datagramReorder), 0.01);
    new Flight(network, cable, to, port, {address_, network.mayCorrupt(cable, std::move(bytes))}, at);
}

void SimDatagramSocket::close() {
    if (!host_)
        return;
    std::exchange(host_, nullptr)->sockets_.erase(address_.port());
    detach(this);
    fail(operation_obsolete());
}

void SimDatagramSocket::arrive(Datagram datagram) {
    auto size = static_cast<std::size_t>(datagram.bytes.size());
    if (bytes_ + size > kRoom)
        return;
    bytes_ += size;
    received_.push(std::move(datagram));
    if (isReceiveWaitedFor())
        host_->wake(*this);
}

void SimDatagramSocket::stop() {
    abandonWaiters();
    detach(this);
    host_ = nullptr;
}

} // namespace flow::net
