#pragma once
// Host: the machine of a simulated process as its network sees it, and the Transport of the process.

#include "net/sim/session.h"

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
    /// Lets the process's loop run it, unless it is about to.
    void wake(WaiterNode& waiter) const {
        if (!waiter.link.isLinked())
            process_.makeReady(waiter, TaskPriority::ReadSocket);
    }
    /// Whether a listener takes the connection that somebody has asked for.
    bool offer(Session& session);
    void arrive(std::uint16_t port, Datagram datagram);
    /// There is no network any more.
    void unplug() { network_ = nullptr; }

private:
    friend class Session;
    friend class SimListener;
    friend class SimDatagramSocket;

    /// Looks names up in the table of the network; the answer takes as long as a message there and back.
    struct Names final : Resolver {
        explicit Names(Host& h) : host(h) {}
        Future<Found> lookUp(std::string name) override;
        Host& host;
    };

    void started(Process& process) override;
    void stopped(Process& process, bool powerLost) override;
    std::string sourceOf(void const* what) const override;
    Reference<Session> open(Address to);
    /// The address to use for `at`, of which `used` has those in use.
    template <class T>
    Address bindable(Address at, std::map<std::uint16_t, T*> const& used);
    std::uint16_t ephemeralPort();

    SimNetwork* network_;
    Process& process_;
    Names names_{*this};
    bool isPowered_ = false;
    std::uint16_t nextPort_;
    // Of the present life of the process:
    ListLink halves_; // ends of connections
    std::map<std::uint16_t, SimListener*> listeners_;
    std::map<std::uint16_t, SimDatagramSocket*> sockets_;
};

/// Drops a promise of a process that stops: nobody is told, and nobody will be.
template <class T>
void forsake(std::optional<Promise<T>>& promise) {
    if (promise && promise->canBeSet())
        promise->send(Never());
    promise.reset();
}

template <class T>
bool sets(std::optional<Promise<T>> const& promise, void const* cell) {
    return promise && promise->getFuture().cell() == cell;
}

/// Gives the right to set the future away. Nothing is left behind, so that what it resumes may wait anew.
template <class T>
Promise<T> takePromise(std::optional<Promise<T>>& promise) {
    Promise<T> taken = std::move(*promise);
    promise.reset();
    return taken;
}

} // namespace flow::net
