#include "net/sim/detail/host.h"

#include "flow/combine/race.h"
#include "flow/wait/delay.h"
#include "net/detail/address_error.h"
#include "net/detail/connection_events.h"
#include "net/sim/detail/datagrams.h"

#include <cerrno>

namespace flow::net {
namespace {

constexpr int kFirstEphemeral = 49152, kPorts = 65536;

} // namespace

/// A simulated listener. It gets a turn in the loop of its process when a client has connected.
class SimListener final : public Listener, WaiterNode {
public:
    SimListener(Host& host, Address address)
        : WaiterNode{[](WaiterNode* waiter) { static_cast<SimListener*>(waiter)->acceptorsMayTry(); },
                     {nullptr},
                     {nullptr, nullptr},
                     {}},
          host_(&host), address_(address) {
        host.listeners_[address.port()] = this;
    }
    ~SimListener() override { close(); }

    void close() override {
        if (!host_)
            return;
        std::exchange(host_, nullptr)->listeners_.erase(address_.port());
        while (!waiting_.isEmpty())
            waiting_.pop()->abort(1, operation_obsolete());
        detach(this);
        fail(operation_obsolete());
    }

    Address localAddress() const override { return address_; }
    std::string sourceOf(void const* what) {
        return isFirstAccept(what) ? "a connection to " + address_.toString() : std::string();
    }

    /// Takes the connection if there is room. The Host calls this function.
    bool offer(Session& session) {
        if (waiting_.size() >= SimNetwork::kBacklog)
            return false;
        session.accepted();
        waiting_.push(Reference<Session>::addRef(&session));
        if (isAcceptWaitedFor())
            host_->wake(*this);
        return true;
    }

    /// Ends the listener when its process stops. Its operations never complete.
    void stop() {
        abandonWaiters();
        while (!waiting_.isEmpty())
            waiting_.pop();
        detach(this);
        host_ = nullptr;
    }

private:
    bool hasConnection() noexcept override { return !waiting_.isEmpty(); }
    Reference<Connection> takeConnection() override {
        Reference<Connection> connection = waiting_.pop()->handle(1);
        traceConnection("Accepted", connection->peerAddress());
        return connection;
    }

    Host* host_; // null: closed
    Address address_;
    RingQueue<Reference<Session>> waiting_; // connections to be accepted
};

Host::Host(SimNetwork& network, Process& process) : network_(&network), process_(process) {
    halves_.reset();
    nextPort_ = static_cast<std::uint16_t>(network.world_.random().randomInt(kFirstEphemeral, kPorts));
}

std::uint16_t Host::ephemeralPort() {
    std::uint16_t port = nextPort_;
    nextPort_ = static_cast<std::uint16_t>(port + 1 == kPorts ? kFirstEphemeral : port + 1);
    return port;
}

void Host::started(Process&) {
    if (!network_)
        return;
    Loop::current().provide<Transport>(this);
    if (!std::exchange(isPowered_, true))
        network_->lookAgain();
}

void Host::stopped(Process&, bool powerLost) {
    isPowered_ = !powerLost;
    names_.clear();
    for (auto& [port, listener] : listeners_)
        listener->stop();
    listeners_.clear();
    for (auto& [port, socket] : sockets_)
        socket->stop();
    sockets_.clear();
    while (!halves_.isEmpty())
        Session::stop(halves_.next, powerLost);
}

std::string Host::sourceOf(void const* what) const {
    std::string source;
    for (ListLink* place = halves_.next; place != &halves_; place = place->next)
        source += Session::sourceOf(place, what);
    for (auto const& [port, listener] : listeners_)
        source += listener->sourceOf(what);
    for (auto const& [port, socket] : sockets_)
        source += socket->sourceOf(what);
    return source;
}

Reference<Session> Host::open(Address to) {
    Host* other = to.isLoopback() ? this : network_->hostAt(to);
    if (!other)
        return {};
    return Session::open(*network_, *this, localAddress().withPort(ephemeralPort()), *other, to);
}

Future<Reference<Connection>> Host::connect(Address to, ConnectOptions const& options) {
    options.check();
    double timeout = std::min<double>(options.timeout, SimNetwork::kConnectTimeout);
    Reference<Session> session = open(to);
    if (!session) {
        co_await delay(timeout);
        Error error = connectTimedOut(to.toString(), timeout);
        traceConnection("ConnectFailed", to, error);
        throw error;
    }
    Reference<Connection> connection = session->handle(0); // the connection closes if this coroutine is cancelled
    Future<Void> established = session->established();
    auto first = co_await race(established, delay(timeout));
    if (first.index() == 1) {
        Error error = connectTimedOut(to.toString(), timeout);
        traceConnection("ConnectFailed", to, error);
        throw error;
    }
    co_return connection;
}

Future<Resolver::Found> Host::Names::lookUp(std::string name) {
    co_await delay(2 * host.network_->shape_.latency);
    auto place = host.network_->names_.find(name);
    if (place == host.network_->names_.end())
        co_return Found{{}, kNegative};
    co_return Found{place->second, SimNetwork::kNameSeconds};
}

template <class T>
Address Host::bindable(Address at, std::map<std::uint16_t, T*> const& used) {
    bool isAny = at.isAny();
    if (!isAny && !at.isLoopback() && at.withPort(0) != localAddress())
        throw errorOfCall(EADDRNOTAVAIL);
    if (at.port() != 0) {
        if (used.contains(at.port()))
            throw errorOfCall(EADDRINUSE);
        return isAny ? localAddress().withPort(at.port()) : at;
    }
    for (int tries = kPorts - kFirstEphemeral; tries > 0; --tries)
        if (std::uint16_t port = ephemeralPort(); !used.contains(port))
            return (isAny ? localAddress() : at).withPort(port);
    throw errorOfCall(EADDRINUSE);
}

Reference<Listener> Host::listen(Address at, ListenOptions const& options) try {
    options.check();
    return makeReference<SimListener>(*this, bindable(at, listeners_));
} catch (Error const& error) {
    throw errorAt(error, "listen at", at);
}

Reference<DatagramSocket> Host::bind(Address at, DatagramOptions const& options) try {
    options.check();
    return makeReference<SimDatagramSocket>(*this, bindable(at, sockets_));
} catch (Error const& error) {
    throw errorAt(error, "bind to", at);
}

bool Host::offer(Session& session) {
    auto place = listeners_.find(session.port());
    return place != listeners_.end() && place->second->offer(session);
}

void Host::arrive(std::uint16_t port, Datagram datagram) {
    if (auto place = sockets_.find(port); place != sockets_.end())
        place->second->arrive(std::move(datagram));
}

} // namespace flow::net
