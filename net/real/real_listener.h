#pragma once
// RealListener: a TCP or Unix socket that others connect to.
//
// When the process or the machine has no descriptor left, it tries again after kPause seconds, to avoid a busy loop.
// Clients wait in the kernel meanwhile.
//
// With io_uring the kernel accepts ahead while accepts are waited for. When none is, it stops after the connections
// that had come by then, and later ones wait in the kernel: at most the backlog is held here.

#include "flow/loop/turn.h"
#include "net/real/real_connection.h"

#include <sys/types.h>

namespace flow::net {

/// The file of a Unix socket that this process has bound.
class SocketFile {
public:
    /// Nothing for an address that has no file.
    explicit SocketFile(Address const& bound);
    /// Removes the file, once. Not in a child of fork(), whose parent still listens there; nor a file that has replaced
    /// it since, such as that of another server.
    void remove() noexcept;

private:
    std::string path_; // empty: there is none
    dev_t device_ = 0;
    ino_t number_ = 0;
    std::uint32_t forks_;
};

class RealListener final : public Listener, public RealSocket, public FastAllocated<RealListener> {
public:
    static constexpr double kPause = 0.1;

    /// `opened` is bound there and listens.
    RealListener(RealNetwork& network, OpenDescriptor opened, Address const& at, ListenOptions const& options);
    ~RealListener() override { RealListener::close(); }

    void close() override;
    Address localAddress() const override {
        if (!at_.isUnix() && at_.port() == 0 && isOpen()) // looked up when it is needed, since it is a system call
            at_ = addressHere();
        return at_;
    }

private:
    /// An accepted connection that accept() has not returned yet.
    struct Accepted {
        int descriptor = -1;
        Address peer;
    };

    bool hasConnection() noexcept override;
    Reference<Connection> takeConnection() override;
    void beforeAcceptorParks() override { watch(); }
    void onNews(News news) noexcept override;
    bool listens() const override { return true; }
    bool onAccepted(int descriptor) noexcept override;
    bool isAwaited() const override { return isAcceptWaitedFor(); }
    void onNetworkEnd() noexcept override;
    /// True if one of ready_ is now in accepted_.
    bool takeReady() noexcept;
    void dropAccepted() noexcept;
    static void goOn(Turn& pause);

    struct Pause : Turn {
        explicit Pause(RealListener& l) : Turn(goOn), listener(l) {}
        RealListener& listener;
    };

    mutable Address at_;
    SocketFile file_;
    ListenOptions options_;
    RingQueue<int> ready_; // that the poller has accepted
    Accepted accepted_;
    Reference<FirstReads> firstReads_; // made for the first that is accepted
    Pause pause_{*this};
    bool mayAccept_ = true;
};

} // namespace flow::net
