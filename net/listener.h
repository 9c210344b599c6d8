#pragma once
// Listener: where others connect to.
//
//     Reference<Listener> listener = transport().listen(4500);
//     for (;;)
//         collection.add(serve(co_await listener->accept()));

#include "net/connection.h"

namespace flow::net {

class Listener;

/// Takes the next connection. Names its listener, which must outlive it.
struct Accept {
    using Result = Reference<Connection>;
    Listener* listener;

    bool isReady();
    void park(WaiterNode& waiter);
    Reference<Connection> take();
};

class Listener : public ReferenceCounted<Listener> {
public:
    virtual ~Listener() {
        slot_.cancel();
        failWaiters();
    }

    /// The next connection. Several may wait, the oldest is served first. What loses a race has taken none.
    Accept accept() { return {this}; }
    /// Calls handler(error, connection); see flow/wait/handler_slot.h. One at a time.
    template <class Handler>
    void asyncAccept(Handler handler) {
        call(accept(), slot_, handler);
    }
    /// The port is free again. Connections that nobody has accepted fail; those that were accepted stay. A waiter,
    /// and each later accept, fails with operation_obsolete. Idempotent.
    virtual void close() = 0;

    /// With the port that was chosen, if none was asked for.
    virtual Address localAddress() const = 0;

protected:
    // What a transport provides.

    /// Whether take() has a connection to give. Runs nobody's code, throws nothing.
    virtual bool hasConnection() noexcept = 0;
    virtual Reference<Connection> takeConnection() = 0;
    /// Somebody is about to wait. Throws an Error if nothing could end that.
    virtual void beforeAcceptorParks() {}

    void acceptorsMayTry() { acceptors_.wakeInTurn(TaskPriority::AcceptSocket); }
    bool isAcceptWaitedFor() const { return acceptors_.isWaitedFor(); }
    bool isFirstAccept(void const* operation) { return isAcceptWaitedFor() && &acceptors_.first() == operation; }
    void fail(Error error) {
        error_ = error;
        acceptorsMayTry();
    }
    /// Those that wait do so for ever.
    void forsakeWaiters() noexcept { acceptors_.forsakeAll(); }
    void failWaiters() noexcept {
        if (acceptors_.isWaitedFor())
            acceptors_.failAll(error_.isValid() ? error_ : operation_obsolete());
    }

    Error error_; // from here on, of each accept

private:
    friend struct Accept;
    Source<Accept> acceptors_;
    HandlerSlot slot_;
};

inline bool Accept::isReady() {
    return listener->error_.isValid() || listener->hasConnection();
}
inline void Accept::park(WaiterNode& waiter) {
    listener->beforeAcceptorParks();
    listener->acceptors_.park(waiter, *this);
}
inline Reference<Connection> Accept::take() {
    if (listener->error_.isValid())
        throw listener->error_;
    return listener->takeConnection();
}

} // namespace flow::net
