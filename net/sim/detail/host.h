#pragma once
// Host: the network side of a simulated machine, and the Transport of its process.

#include "net/sim/detail/session.h"

namespace flow::net {

class SimListener;
class SimDatagramSocket;

class Host final : public Attachment, public Transport, NonCopyable {
public:
    Host(SimNetwork& network, Process& process);

    using Transport::bind, Transport::connect, Transport::listen;
    Future<Reference<Connection>> connect(Address to, ConnectOptions const& options) override;
    Reference<Listener> listen(Address at, ListenOptions const& options) override;
    Reference<DatagramSocket> bind(Address at, DatagramOptions const& options) override;
    Address localAddress() const override { return Address(process_.address(), 0); }
    Resolver& resolver() override { return names_; }

    Process& process() const { return process_; }
    bool isPowered() const { return isPowered_; }
    /// Makes the waiter ready in the process's loop, unless it is ready already.
    void wake(WaiterNode& waiter) const {
        if (!waiter.link.isLinked())
            process_.makeReady(waiter, TaskPriority::ReadSocket);
    }
    /// True if a listener takes the requested connection.
    bool offer(Session& session);
    void arrive(std::uint16_t port, Datagram datagram);
    void unplug() { network_ = nullptr; }

private:
    friend class Session;
    friend class SimListener;
    friend class SimDatagramSocket;

    /// Looks names up in the table of the network; the answer takes the time of a round trip.
    struct Names final : Resolver {
        explicit Names(Host& h) : host(h) {}
        Future<Found> lookUp(std::string name) override;
        Host& host;
    };

    void started(Process& process) override;
    void stopped(Process& process, bool powerLost) override;
    std::string sourceOf(void const* what) const override;
    Reference<Session> open(Address to);
    /// Returns the address to bind for `at`. The ports in `used` are not free. Throws address_in_use.
    template <class T>
    Address bindable(Address at, std::map<std::uint16_t, T*> const& used);
    std::uint16_t ephemeralPort();

    SimNetwork* network_;
    Process& process_;
    Names names_{*this};
    bool isPowered_ = false;
    std::uint16_t nextPort_;
    // The members below are empty while the process is stopped.
    ListLink halves_; // ends of connections
    std::map<std::uint16_t, SimListener*> listeners_;
    std::map<std::uint16_t, SimDatagramSocket*> sockets_;
};

/// Drops a promise of a process that stops, without completing its future.
template <class T>
void abandon(std::optional<Promise<T>>& promise) {
    if (promise && promise->canBeSet())
        promise->send(Never());
    promise.reset();
}

template <class T>
bool sets(std::optional<Promise<T>> const& promise, void const* cell) {
    return promise && promise->getFuture().cell() == cell;
}

/// Moves the promise out, so that a resumed waiter may wait again.
template <class T>
Promise<T> takePromise(std::optional<Promise<T>>& promise) {
    Promise<T> taken = std::move(*promise);
    promise.reset();
    return taken;
}

} // namespace flow::net
