#pragma once
// Listener: accepts connections.
//
//     Reference<Listener> listener = transport().listen(4500);
//     Scope served(OnError::Report);                    // or serveUntil() of net/serve.h
//     for (;;) {
//         Reference<Connection> client = co_await listener->accept();
//         served.spawn(serve(client));
//     }

#include "net/connection.h"

namespace flow::net {

class Listener;

/// The operation of accept(), which takes the next connection. `listener` must outlive the operation.
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

    /// Takes the next connection. Several operations may wait; the oldest is served first. An operation that loses a
    /// race takes no connection.
    Accept accept() { return {this}; }
    /// Calls handler(error, connection) once, with the next connection (flow/wait/handler_slot.h). Only one may wait.
    template <class Handler>
    void asyncAccept(Handler handler) {
        call(accept(), slot_, handler);
    }
    /// Takes a waiting connection, even if the poller has not reported it yet; null if none waits.
    Reference<Connection> tryAccept() {
        lookAgain();
        bool isReady = !error_.isValid() && hasConnection();
        return isReady && !error_.isValid() ? takeConnection() : Reference<Connection>();
    }
    /// True if connections will reach accept() later, such as connections in a TLS handshake.
    virtual bool isBusy() const { return false; }
    /// Closes the listener and frees the port. Connections that were not accepted fail; accepted connections stay.
    /// Waiting and later accepts fail with operation_obsolete. Idempotent.
    virtual void close() = 0;

    /// Returns the listener's address. If port 0 was requested, the address has the port that was chosen.
    virtual Address localAddress() const = 0;
    /// Like Connection::nativeDescriptor(). Accepted sockets inherit most options.
    virtual int nativeDescriptor() const { return -1; }

protected:
    // The transport implements these functions.

    /// True if takeConnection() would return a connection. Runs no user code, throws nothing.
    virtual bool hasConnection() noexcept = 0;
    virtual Reference<Connection> takeConnection() = 0;
    /// Makes the next hasConnection() ask the kernel again.
    virtual void lookAgain() noexcept {}
    /// Called before an accept waits. Throws an Error if nothing could end the wait.
    virtual void beforeAcceptorParks() {}

    void acceptorsMayTry() { acceptors_.wakeForNews(TaskPriority::AcceptSocket); }
    bool isAcceptWaitedFor() const { return acceptors_.isWaitedFor(); }
    bool isFirstAccept(void const* operation) { return isAcceptWaitedFor() && &acceptors_.first() == operation; }
    void fail(Error error) {
        error_ = error;
        acceptorsMayTry();
    }
    /// Makes waiting operations wait forever.
    void abandonWaiters() noexcept { acceptors_.abandonAll(); }
    void failWaiters() noexcept {
        if (acceptors_.isWaitedFor())
            acceptors_.failAll(error_.isValid() ? error_ : operation_obsolete());
    }

    Error error_; // the error of all accepts, if it is set

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
