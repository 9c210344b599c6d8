#pragma once
// Listener: accepts connections.
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
    void describe(Description& out) const;
};

class Listener : public ReferenceCounted<Listener> {
public:
    virtual ~Listener() {
        slot_.cancel();
        failWaiters();
    }

    /// Takes the next connection. Several may wait, the oldest is served first. An accept that loses a race has taken
    /// none.
    Accept accept() { return {this}; }
    /// Calls handler(error, connection); see flow/wait/handler_slot.h. One at a time.
    template <class Handler>
    void asyncAccept(Handler handler) {
        call(accept(), slot_, handler);
    }
    /// Closes the listener and frees the port. Connections that were not accepted fail; accepted ones stay. Waiting and
    /// later accepts fail with operation_obsolete. Idempotent.
    virtual void close() = 0;

    /// The address, with the chosen port if port 0 was requested.
    virtual Address localAddress() const = 0;

protected:
    // The transport implements these.

    /// True if take() would return a connection. Runs no user code, throws nothing.
    virtual bool hasConnection() noexcept = 0;
    virtual Reference<Connection> takeConnection() = 0;
    /// An accept is about to wait. Throws an Error if nothing could end the wait.
    virtual void beforeAcceptorParks() {}

    void acceptorsMayTry() { acceptors_.wakeForNews(TaskPriority::AcceptSocket); }
    bool isAcceptWaitedFor() const { return acceptors_.isWaitedFor(); }
    bool isFirstAccept(void const* operation) { return isAcceptWaitedFor() && &acceptors_.first() == operation; }
    void fail(Error error) {
        error_ = error;
        acceptorsMayTry();
    }
    /// Waiting operations are never completed.
    void abandonWaiters() noexcept { acceptors_.abandonAll(); }
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
    return listener->error_.isValid() || (listener->acceptors_.isNext(*this) && listener->hasConnection());
}
inline void Accept::park(WaiterNode& waiter) {
    listener->beforeAcceptorParks();
    listener->acceptors_.park(waiter, *this);
}
inline void Accept::describe(Description& out) const {
    out.text = "a connection to " + listener->localAddress().toString();
}
inline Reference<Connection> Accept::take() {
    if (listener->error_.isValid())
        throw listener->error_;
    return listener->takeConnection();
}

} // namespace flow::net
