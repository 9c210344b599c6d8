#pragma once
// RealSocket: the base of connections, listeners and datagram sockets of a RealNetwork.

#include "net/real/real_network.h"

#include <sys/socket.h>
#include <utility>

namespace flow::net {

/// Closes a descriptor that has no other owner yet.
class OpenDescriptor {
public:
    explicit OpenDescriptor(int descriptor) : descriptor_(descriptor) {}
    OpenDescriptor(OpenDescriptor&& other) noexcept : descriptor_(other.release()) {}
    OpenDescriptor& operator=(OpenDescriptor&&) = delete;
    ~OpenDescriptor();
    int get() const { return descriptor_; }
    int release() { return std::exchange(descriptor_, -1); }

private:
    int descriptor_; // -1: none
};

class RealSocket : public PolledDescriptor, ListLink {
public:
    bool isOpen() const { return descriptor_ >= 0; }
    RealNetwork& network() { return *network_; }
    /// Stops watching the descriptor and releases it to the caller.
    [[nodiscard]] OpenDescriptor release();
    /// Moves the descriptor to `other`, which has none. If it was watched, `other` is watched. Throws platform_error;
    /// then `other` has it, unwatched.
    void moveTo(RealSocket& other);

protected:
    /// Takes the descriptor: when the constructor of a derived class throws, the descriptor is closed, once.
    RealSocket(RealNetwork& network, OpenDescriptor opened);
    ~RealSocket() { leaveNetwork(); }

    /// Registers it with the poller, if it is not registered. Throws platform_error.
    void watch();
    /// Stops watching and closes it.
    void closeDescriptor();
    /// Like closeDescriptor(), with a reset: the other side's connection fails.
    void resetConnection();
    /// The network ends. An override calls leaveNetwork() or destroys this.
    virtual void onNetworkEnd() noexcept { leaveNetwork(); }
    /// Closes it; from here on there is no network.
    void leaveNetwork() noexcept;

    Address addressHere() const;
    NetworkPoller& poller() { return *network_->poller_; }
    SharedBlock& block() { return network_->block_; }
    RealNetwork::Leaving& leaving() { return network_->leaving_; }
    bool hasNetwork() const { return network_; }
    /// Counts for this socket and for the network.
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

/// The error for an errno of a system call.
Error errorOfSystem(int number);
/// A non-blocking socket for that address. Throws an Error.
OpenDescriptor openSocket(Address const& address, int type, SocketOptions const& options);
/// Throws an Error; the socket stays open.
void setOption(int descriptor, int level, int name, int value);
void bindSocket(int descriptor, Address const& at);
/// Removes the file of a Unix socket at this path if it is this user's, and no program listens there any more.
void removeLeftBehind(Address const& at);
/// Applies the options to a connected or accepted socket. If the connection has already failed, reading returns the
/// error.
void applyOptions(int descriptor, Address const& peer, SocketOptions const& options) noexcept;
} // namespace flow::net
