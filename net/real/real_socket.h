#pragma once
// RealSocket: a socket of the machine that belongs to a RealNetwork: what connections, listeners and datagram sockets
// have in common.

#include "net/real/real_network.h"

#include <sys/socket.h>
#include <utility>

namespace flow::net {

class RealSocket : public PolledDescriptor, ListLink {
public:
    bool isOpen() const { return descriptor_ >= 0; }
    RealNetwork& network() { return *network_; }
    /// The descriptor, which is not open here any more. If it was watched, `by` is watched in its place. Throws
    /// platform_error; then it is still the caller's to close.
    int release(PolledDescriptor* by);

protected:
    RealSocket(RealNetwork& network, int descriptor);
    ~RealSocket() { leaveNetwork(); }

    /// Lets the poller watch it, if it does not yet. Throws platform_error.
    void watch();
    /// It is not watched and not open any more.
    void closeDescriptor();
    /// The same; the other side finds that the connection has failed.
    void resetConnection();
    /// The network ends: nothing happens any more. Overridden, it calls leaveNetwork() or destroys this.
    virtual void onNetworkEnd() noexcept { leaveNetwork(); }
    /// Closes it; from here on there is no network.
    void leaveNetwork() noexcept;

    Address addressHere() const;
    NetworkPoller& poller() { return *network_->poller_; }
    SharedBlock& block() { return network_->block_; }
    bool hasNetwork() const { return network_; }
    /// Of this socket and of the network.
    template <class Member>
    void count(Member member, std::uint64_t by = 1) {
        counters_.*member += by;
        network_->counters_.*member += by;
    }

    SocketCounters counters_;

private:
    friend class RealNetwork;
    RealNetwork* network_; // null: it has ended
};

/// The error that a system call's errno stands for.
Error errorOfSystem(int number);
/// A socket for that address, which blocks nobody. Throws an Error.
int openSocket(Address const& address, int type, SocketOptions const& options);
/// Throws an Error; the socket stays open.
void setOption(int descriptor, int level, int name, int value);
void bindSocket(int descriptor, Address const& at);
/// What sets it as the options say, once it is connected or was accepted. If it is gone already, reading finds out.
void applyOptions(int descriptor, bool isTcp, SocketOptions const& options) noexcept;
/// Of a descriptor on its way to an owner.
class OpenDescriptor {
public:
    explicit OpenDescriptor(int descriptor) : descriptor_(descriptor) {}
    OpenDescriptor(OpenDescriptor const&) = delete;
    OpenDescriptor& operator=(OpenDescriptor const&) = delete;
    ~OpenDescriptor();
    int get() const { return descriptor_; }
    int release() { return std::exchange(descriptor_, -1); }

private:
    int descriptor_;
};

} // namespace flow::net
