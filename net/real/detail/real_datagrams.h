#pragma once
// RealDatagramSocket: a UDP or Unix datagram socket. It receives and sends many datagrams with one system call. If the
// kernel supports GSO and GRO, it handles several datagrams of one size and one address as one message.

#include "flow/loop/turn.h"
#include "net/real/detail/real_socket.h"
#include "net/real/detail/socket_file.h"

namespace flow::net {

class RealDatagramSocket final : public DatagramSocket,
                                 public RealSocket,
                                 Turn,
                                 public FastAllocated<RealDatagramSocket> {
public:
    /// The most messages of one system call. A message is one datagram, or several of the same address and size.
    static constexpr unsigned kBatch = 16;

    /// `opened` is bound to `at`. The socket removes `file` when it closes; by default the file of `at`.
    RealDatagramSocket(RealNetwork& network, OpenDescriptor opened, Address const& at, ReadStrategy strategy)
        : RealDatagramSocket(network, std::move(opened), at, strategy, SocketFile(at)) {}
    RealDatagramSocket(RealNetwork& network, OpenDescriptor opened, Address const& at, ReadStrategy strategy,
                       SocketFile file);
    ~RealDatagramSocket() override { RealDatagramSocket::close(); }

    void close() override;
    Address localAddress() const override {
        if (!at_.isUnix() && at_.port() == 0 && isOpen()) // only when needed: addressHere() is a system call
            at_ = addressHere();
        return at_;
    }
    SocketCounters counters() const override { return counters_; }
    int nativeDescriptor() const override { return descriptor(); }

private:
    bool fill() noexcept override;
    void beforeReceiverParks() override { watch(); }
    void sendAll(std::span<Datagram> datagrams) override;
    void changeGroup(Address const& group, unsigned interface, bool joins) override;
    void onNews(News news) noexcept override;
    bool isAwaited() const override { return isReceiveWaitedFor() || !queue_.isEmpty(); }
    void onNetworkEnd() noexcept override;

    /// Sends with one system call. Returns the number of datagrams that the kernel has taken, or will never take.
    std::size_t give(std::span<Datagram> datagrams);
    void flush();

    mutable Address at_;
    SocketFile file_;
    RingQueue<Datagram> queue_;
    ReadStrategy strategy_;
    bool mayRead_ = false;
    bool mayWrite_ = true;
    bool mayBeJoined_ = false;  // the kernel has been asked for GRO
    bool maySendJoined_ = true; // the kernel has not refused GSO
};

} // namespace flow::net
