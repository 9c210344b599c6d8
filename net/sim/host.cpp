#include "net/sim/host.h"

#include "flow/coro/race.h"
#include "flow/wait/delay.h"
#include "net/sim/datagrams.h"

namespace flow::net {
using namespace flow::detail;
namespace {

constexpr int kFirstEphemeral = 49152, kPorts = 65536;

} // namespace

/// Waits in the loop of its process for its turn when somebody has connected.
class SimListener final : public Listener, Waiter {
public:
    SimListener(Host& host, Address address)
        : Waiter{[](Waiter* waiter) { static_cast<SimListener*>(waiter)->wake(); }, {nullptr}, {nullptr, nullptr}, {}},
          host_(&host), address_(address) {
        host.listeners_[address.port()] = this;
    }
    ~SimListener() override { close(); }

    Future<Reference<Connection>> accept() override {
        FLOW_ASSERT(!accepting_ || accepting_->getFutureReferenceCount() == 0,
                    "Listener::accept() while an earlier one waits");
        if (!host_)
            return operation_obsolete();
        Promise<Reference<Connection>> promise;
        Future<Reference<Connection>> result = promise.getFuture();
        if (waiting_.isEmpty())
            accepting_ = std::move(promise);
        else
            promise.send(waiting_.pop()->handle(1));
        return result;
    }

    void close() override {
        if (!host_)
            return;
        std::exchange(host_, nullptr)->listeners_.erase(address_.port());
        while (!waiting_.isEmpty())
            waiting_.pop()->abort(1);
        detach(this);
        if (accepting_)
            takePromise(accepting_).sendError(operation_obsolete());
    }

    Address localAddress() const override { return address_; }
    std::string sourceOf(flow::detail::Cell const* cell) const {
        return sets(accepting_, cell) ? "a connection to " + address_.toString() : std::string();
    }

    /// By the machine: takes the connection if there is room.
    bool offer(Session& session) {
        if (waiting_.size() >= SimNetwork::kBacklog)
            return false;
        session.accepted();
        waiting_.push(Reference<Session>::addRef(&session));
        if (accepting_)
            host_->wake(*this);
        return true;
    }

    /// The process stops.
    void stop() {
        forsake(accepting_);
        while (!waiting_.isEmpty())
            waiting_.pop();
        detach(this);
        host_ = nullptr;
    }

private:
    void wake() {
        if (!accepting_ || waiting_.isEmpty())
            return;
        Promise<Reference<Connection>> accepting = takePromise(accepting_);
        if (accepting.getFutureReferenceCount() != 0)
            accepting.send(waiting_.pop()->handle(1));
    }

    Host* host_; // null: closed
    Address address_;
    RingQueue<Reference<Session>> waiting_; // to be accepted
    std::optional<Promise<Reference<Connection>>> accepting_;
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
    done_ = Future<Void>(Void());
    loop().provide<Transport>(this);
    if (!std::exchange(isPowered_, true))
        network_->lookAgain();
}

void Host::stopped(Process&, bool powerLost) {
    isPowered_ = !powerLost;
    done_ = Future<Void>();
    for (auto& [port, listener] : listeners_)
        listener->stop();
    listeners_.clear();
    for (auto& [port, socket] : sockets_)
        socket->stop();
    sockets_.clear();
    while (!halves_.isEmpty())
        Session::stop(halves_.next, powerLost);
}

std::string Host::sourceOf(flow::detail::Cell const* cell) const {
    std::string source;
    for (Link* place = halves_.next; place != &halves_; place = place->next)
        source += Session::sourceOf(place, cell);
    for (auto const& [port, listener] : listeners_)
        source += listener->sourceOf(cell);
    for (auto const& [port, socket] : sockets_)
        source += socket->sourceOf(cell);
    return source;
}

Reference<Session> Host::open(Address to) {
    Host* other = to.isLoopback() ? this : network_->hostAt(to);
    if (!other)
        return {};
    return Session::open(*network_, *this, localAddress().withPort(ephemeralPort()), *other, to);
}

Future<Reference<Connection>> Host::connect(Address to) {
    Reference<Session> session = open(to);
    if (!session) {
        co_await delay(SimNetwork::kConnectTimeout);
        throw connection_failed();
    }
    Reference<Connection> connection = session->handle(0); // given up with this
    Future<Void> established = session->established();
    auto first = co_await race(established, delay(SimNetwork::kConnectTimeout));
    if (first.index() == 1)
        throw connection_failed();
    co_return connection;
}

template <class T>
Address Host::bindable(Address at, std::map<std::uint16_t, T*> const& used) {
    bool isAny = at.isAny();
    if (!isAny && !at.isLoopback() && at.withPort(0) != localAddress())
        throw invalid_local_address();
    if (at.port() != 0) {
        if (used.contains(at.port()))
            throw address_in_use();
        return isAny ? localAddress().withPort(at.port()) : at;
    }
    for (int tries = kPorts - kFirstEphemeral; tries > 0; --tries)
        if (std::uint16_t port = ephemeralPort(); !used.contains(port))
            return (isAny ? localAddress() : at).withPort(port);
    throw address_in_use();
}

Reference<Listener> Host::listen(Address at) {
    return makeReference<SimListener>(*this, bindable(at, listeners_));
}

Reference<DatagramSocket> Host::bind(Address at) {
    return makeReference<SimDatagramSocket>(*this, bindable(at, sockets_));
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
