#pragma once
// RealListener: a TCP or Unix socket that accepts connections.
//
// When the process or the machine has no descriptor left, the listener tries again after kPause seconds, to avoid a
// busy loop. Clients wait in the kernel meanwhile.
//
// With io_uring, the kernel accepts connections ahead while an accept() waits. If none waits, the kernel stops, and
// later connections wait in the kernel. This listener keeps the connections that came before: at most the backlog.

#include "flow/loop/turn.h"
#include "net/real/detail/real_connection.h"

#include <sys/types.h>

namespace flow::net {

/// The file of a Unix socket that this process has bound.
class SocketFile {
public:
    /// Notes the file of `bound`, if there is one.
    explicit SocketFile(Address const& bound);
    /// Removes the file, once. In a child of fork() does nothing, because the parent still listens at the file. Does
    /// not remove another file that has replaced this file, such as the file of another server.
    void remove() noexcept;

private:
    std::string path_; // empty: there is no file
    dev_t device_ = 0;
    ino_t number_ = 0;
    std::uint32_t forks_;
};

class RealListener final : public Listener, public RealSocket, public FastAllocated<RealListener> {
public:
    static constexpr double kPause = 0.1;

    /// `opened` is bound to `at` and listens.
    RealListener(RealNetwork& network, OpenDescriptor opened, Address const& at, ListenOptions const& options);
    ~RealListener() override { RealListener::close(); }

    void close() override;
    Address localAddress() const override {
        if (!at_.isUnix() && at_.port() == 0 && isOpen()) // only when needed: addressHere() is a system call
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
    void lookAgain() noexcept override { mayAccept_ = !pause_.isAsked(); }
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
