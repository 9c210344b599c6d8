#pragma once
// Session: a connection in a SimNetwork. It has the state at both machines, the messages in flight, and the operations
// of the processes at its ends.
//
// Side 0 has called connect(), side 1 listens. Functions that a process calls run on its loop. All others run on the
// world's loop and complete no future: they schedule wake() on the process's loop.

#include "flow/core/ring_queue.h"
#include "net/sim/sim_network.h"

#include <optional>

namespace flow::net {

class SimConnection;

class Session : public ReferenceCounted<Session>, public ListLink, NonCopyable {
public:
    /// Sends a request of `from` to connect to `to`.
    static Reference<Session> open(SimNetwork& network, Host& from, Address fromAddress, Host& to, Address toAddress);
    ~Session();

    // The process at `side` calls these functions.

    Reference<Connection> handle(int side);
    Future<Void> established();
    /// SimConnection::fill() uses these functions. Call takeReceived() only if hasReceived() is true.
    bool hasReceived(int side) const { return !halves_[side].received.isEmpty(); }
    Bytes takeReceived(int side) { return takeReceived(halves_[side]); }
    Error error(int side) const { return halves_[side].error; }
    bool readEnded(int side) const { return halves_[side].readEnded; }
    bool isEstablished(int side) const { return halves_[side].isEstablished; }
    void write(int side, Bytes bytes);
    void shutdownWrite(int side);
    void close(int side);
    /// Fails the connection: on the other side by a reset, and here with `error`.
    void abort(int side, Error error);
    void handleGone(int side);
    Address address(int side) const { return halves_[side].address; }

    // Machines (Hosts) call these functions.

    /// Called when a listener at side 1 has taken the connection.
    void accepted();
    std::uint16_t port() const { return halves_[1].address.port(); }
    void lookAgain();
    /// Removes the delay of a slow connection: delayed messages may arrive now. Call lookAgain() after this.
    void speedUp();
    /// Drops the session and its messages, when the network ends.
    void vanish();
    /// Stops the Half at `place` in the list of its machine, when the process there has stopped.
    static void stop(ListLink* place, bool powerLost);
    static std::string sourceOf(ListLink* place, void const* what);

private:
    using Kind = SimNetwork::Kind;

    struct Segment {
        double at; // seconds of the world
        Bytes bytes;
        std::uint64_t credit;
        Kind kind;
    };
    /// The messages in flight from a side. A Pipe waits on the world's loop for the arrival of the first message.
    struct Pipe : WaiterNode {
        Session* session;
        Cable* cable;
        RingQueue<Segment> segments; // while there are any, the Pipe holds a reference to the session
        double last = 0;             // the time at which the last message arrives
        double freeAt = 0;           // for a slow connection: the time at which all sent messages have left
    };
    /// The state of a side, at the machine and in the process. On an event it gets a turn in the process's loop.
    struct Half : WaiterNode, ListLink { // ListLink: the place in the list of its machine
        Session* session;
        Host* host;
        Address address;
        RingQueue<Bytes> received;
        SimConnection* handle = nullptr; // null if the process has no handle
        std::optional<Promise<Void>> opening;
        std::size_t unreported = 0; // bytes that were read, but not acknowledged yet
        Error error;                // the error of all later operations
        bool isKnown = false;       // at the machine: this half is not closed, and has not failed
        bool isEstablished = false;
        bool isClosed = false; // the process has closed this half
        bool writeEnded = false;
        bool readEnded = false;

        bool isAwaited() const;
        bool isNeeded() const { return isKnown || handle || opening; }
    };

    Session(SimNetwork& network, Host& from, Address fromAddress, Host& to, Address toAddress);
    Half& other(Half& half) { return halves_[&half == &halves_[0]]; }
    Pipe& pipeFrom(Half& half) { return pipes_[&half == &halves_[1]]; }

    static bool isAtItsAddress(Half const& half);
    void enter(Half& half);
    void leaveUnlessNeeded(Half& half);
    void fail(Half& half, Error error);
    void notify(Half& half);
    void wake(Half& half);
    Bytes takeReceived(Half& half);

    void send(Half& half, Kind kind, Bytes bytes = {}, std::uint64_t credit = 0);
    void park(Pipe& pipe, double time);
    void deliver(Pipe& pipe);
    double heldUntil(Pipe& pipe);
    void arrive(Half& half, Segment segment);

    SimNetwork& network_;
    Pipe pipes_[2]; // from each side
    Half halves_[2];
    bool isRefused_ = false;
    double bandwidth_ = 0;  // bytes a second in each direction of a slow connection; 0: not limited
    int messagesLeft_ = -1; // injected fault: this many writes still arrive, then nothing; -1: no fault
};

} // namespace flow::net
