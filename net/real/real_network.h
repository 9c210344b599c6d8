#pragma once
// RealNetwork: the machine's network, as the Transport of a RealLoop.
//
//     RealLoop loop;
//     RealNetwork network(loop);           // optional: the first call of transport() makes one
//     loop.run(serve());
//     network.counters().systemCalls();
//
// A RealNetwork sets the loop's poller: epoll, or io_uring with FLOW_POLLER=uring. A socket is registered with the
// poller once, at the first wait for the socket.
//
// Sockets receive into one block of 64 KiB that all sockets of the loop share. Usually the reader takes the bytes
// immediately. If bytes are left when another socket receives, their connection copies them.

#include "flow/loop/real_loop.h"
#include "net/poll/network_poller.h"
#include "net/real/detail/shared_block.h"
#include "net/transport.h"

namespace flow::net {

class UringSockets;

class RealNetwork final : public Transport {
public:
    /// Makes this object the Transport of `home`, until one of the two ends. This object belongs to the loop's thread.
    explicit RealNetwork(RealLoop& home);
    RealNetwork(RealNetwork const&) = delete;
    RealNetwork& operator=(RealNetwork const&) = delete;
    ~RealNetwork();

    using Transport::bind, Transport::bindMany, Transport::connect, Transport::listen, Transport::listenMany;
    Future<Reference<Connection>> connect(Address to, ConnectOptions const& options) override;
    Reference<Listener> listen(Address at, ListenOptions const& options) override;
    Reference<DatagramSocket> bind(Address at, DatagramOptions const& options) override;
    std::vector<Reference<Listener>> listenMany(std::span<Address const> at, ListenOptions const& options) override;
    std::vector<Reference<DatagramSocket>> bindMany(std::span<Address const> at,
                                                    DatagramOptions const& options) override;
    Address localAddress() const override;
    Resolver& resolver() override;
    /// Replaces the resolver. No lookup may be in progress.
    void setResolver(ResolverOptions const& options) { resolver_ = makeResolver(options); }

    LoopCounters counters() const { return {counters_, poller_->counters()}; }
    /// Counts the open sockets, by visiting each connection, listener and datagram socket.
    std::size_t openSockets() const;
    NetworkPoller const& poller() const { return *poller_; }

    Future<Void> settled() override;
    /// Returns the stream that standardInput() (0) or standardOutput() (1) has made; null if there is none.
    Reference<Connection>& standardStream(int number) { return standardStreams_[number]; }

    /// Counts the bytes that closed connections have not sent yet.
    class Leaving : public Drainable {
    public:
        Leaving() : Drainable(0, 0) {}
        void add(std::size_t bytes) { noteWritten(bytes); }
        void remove(std::size_t bytes) {
            noteGone(bytes);
            wakeDrains();
        }
        void abandonWaiters() noexcept { drains_.abandonAll(); }
    };

private:
    friend class RealSocket;
    friend Transport& makeRealTransport();

    /// The entry in the loop's list of objects that end with it.
    struct Owned : LoopOwned {
        RealNetwork* network;
        bool isHeap;
    };

    std::unique_ptr<Resolver> makeResolver(ResolverOptions const& options);
    /// Closes all sockets. After this no socket can be watched.
    void end() noexcept;
    UringSockets* socketsFor(std::span<Address const> at);

    RealLoop& loop_;
    std::unique_ptr<NetworkPoller> poller_;
    std::unique_ptr<Resolver> resolver_; // null: not made yet
    Owned owned_{};
    ListLink sockets_; // the open sockets
    SocketCounters counters_;
    SharedBlock block_;
    Leaving leaving_;
    std::unique_ptr<UringSockets> uringSockets_; // null until many sockets are made at once
    Reference<Connection> standardStreams_[2];
};

} // namespace flow::net
