#pragma once
// RealListener: a TCP or Unix socket that accepts connections.
//
// When the process or the machine has no descriptor left, clients wait in the kernel, and the listener tries again
// after kPause seconds, to avoid a busy loop.
//
// With io_uring, the kernel accepts connections ahead while an accept() waits, and stops when none waits. The listener
// keeps connections that were accepted before the stop, at most the backlog; later ones wait in the kernel.

#include "flow/loop/turn.h"
#include "net/real/detail/real_connection.h"
#include "net/real/detail/socket_file.h"

namespace flow::net {

class RealListener final : public Listener, public RealSocket, public FastAllocated<RealListener> {
public:
    static constexpr double kPause = 0.1;

    /// `opened` is bound to `at` and listens. The listener removes `file` when it closes; by default the file of `at`.
    RealListener(RealNetwork& network, OpenDescriptor opened, Address const& at, ListenOptions const& options)
        : RealListener(network, std::move(opened), at, options, SocketFile(at)) {}
    RealListener(RealNetwork& network, OpenDescriptor opened, Address const& at, ListenOptions const& options,
                 SocketFile file);
    ~RealListener() override { RealListener::close(); }

    void close() override;
    Address localAddress() const override {
        if (!at_.isUnix() && at_.port() == 0 && isOpen()) // only when needed: addressHere() is a system call
            at_ = addressHere();
        return at_;
    }
    int nativeDescriptor() const override { return descriptor(); }
    void leaveFile() { file_.leave(); }

private:
    /// An accepted connection that accept() has not returned yet.
    struct Accepted {
        int descriptor = -1;
        Address peer;
    };

    bool hasConnection() noexcept override;
    Reference<Connection> takeConnection() override;
    void lookAgain() noexcept override;
    void beforeAcceptorParks() override { watch(); }
    void onNews(News news) noexcept override;
    bool listens() const override { return true; }
    bool onAccepted(int descriptor) noexcept override;
    bool isAwaited() const override { return isAcceptWaitedFor(); }
    void onNetworkEnd() noexcept override;
    /// Moves a connection from ready_ to accepted_. Returns false if ready_ has none.
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
    RingQueue<int> ready_; // descriptors that the poller has accepted
    Accepted accepted_;
    Reference<FirstReads> firstReads_; // made for the first accepted connection
    Pause pause_{*this};
    bool mayAccept_ = true;
};

} // namespace flow::net
