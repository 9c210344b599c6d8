#pragma once
// RealSocket: the base of connections, listeners and datagram sockets of a RealNetwork.

#include "net/detail/address_error.h"
#include "net/real/real_network.h"

#include <sys/socket.h>
#include <utility>

namespace flow::net {

/// Owns a descriptor until another object takes it. The destructor closes the descriptor.
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
    /// Moves the descriptor to `other`, which has none. If this socket was watched, watches `other`. If that throws
    /// platform_error, `other` has the descriptor, but is not watched.
    void moveTo(RealSocket& other);

protected:
    /// Takes the descriptor. If the constructor of a derived class throws, the descriptor is closed, once.
    RealSocket(RealNetwork& network, OpenDescriptor opened);
    ~RealSocket() { leaveNetwork(); }

    /// Registers the socket with the poller, if it is not registered. Throws platform_error.
    void watch();
    void closeDescriptor();
    /// Resets the connection and closes the descriptor: the connection fails on the other side.
    void resetConnection();
    /// Called when the network ends. An override calls leaveNetwork() or destroys this object.
    virtual void onNetworkEnd() noexcept { leaveNetwork(); }
    /// Closes the descriptor. After this the socket has no network.
    void leaveNetwork() noexcept;

    Address addressHere() const;
    NetworkPoller& poller() { return *network_->poller_; }
    SharedBlock& block() { return network_->block_; }
    RealNetwork::Leaving& leaving() { return network_->leaving_; }
    bool hasNetwork() const { return network_; }
    template <class Member>
    void count(Member member, std::uint64_t by = 1) {
        counters_.*member += by;
        network_->counters_.*member += by;
    }

    SocketCounters counters_;

private:
    friend class RealNetwork;
    RealNetwork* network_; // null: the network has ended
};

/// Opens a non-blocking socket for the family of `address`. Throws an Error, also if an option is wrong.
OpenDescriptor openSocket(Address const& address, int type, SocketOptions const& options);
/// Throws an Error on failure; the socket stays open.
void setOption(int descriptor, int level, int name, int value);
/// Returns the value of an option of SOL_SOCKET; -1 on failure.
int optionOf(int descriptor, int name);
void bindSocket(int descriptor, Address const& at);
/// Applies the options to a connected or accepted socket. Ignores errors, since reading reports a failed connection.
void applyOptions(int descriptor, Address const& peer, SocketOptions const& options) noexcept;
} // namespace flow::net
