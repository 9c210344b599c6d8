#pragma once
// RealDatagramSocket: a UDP or Unix datagram socket. It receives and sends many datagrams with one system call. Those
// of one size to one address go through the kernel as one, where it can (GSO and GRO).

#include "flow/loop/turn.h"
#include "net/real/real_socket.h"

namespace flow::net {

class RealDatagramSocket final : public DatagramSocket,
                                 public RealSocket,
                                 Turn,
                                 public FastAllocated<RealDatagramSocket> {
public:
    /// At most so many messages with one system call; each is one datagram, or several that are alike.
    static constexpr unsigned kBatch = 16;

    RealDatagramSocket(RealNetwork& network, int descriptor, Address const& at, ReadStrategy strategy);
    ~RealDatagramSocket() override { RealDatagramSocket::close(); }

    void close() override;
    Address localAddress() const override {
        if (!at_.isUnix() && at_.port() == 0 && isOpen()) // asked late, since it is a system call
            at_ = addressHere();
        return at_;
    }
    SocketCounters counters() const override { return counters_; }

private:
    bool fill() noexcept override;
    void beforeReceiverParks() override { watch(); }
    void sendAll(std::span<Datagram> datagrams) override;
    void onNews(News news) noexcept override;
    bool isAwaited() const override { return isReceiveWaitedFor() || !queue_.isEmpty(); }
    void onNetworkEnd() noexcept override;

    /// How many of them the kernel has taken, or which it never will take.
    std::size_t give(std::span<Datagram> datagrams);
    void flush();

    mutable Address at_;
    RingQueue<Datagram> queue_;
    ReadStrategy strategy_;
    bool mayRead_ = false;
    bool mayWrite_ = true;
    bool mayBeJoined_ = false;  // what is received: the kernel was asked for it
    bool maySendJoined_ = true; // the kernel has not refused it
};

} // namespace flow::net
