#pragma once
// Session: a connection in a SimNetwork: the state at both machines, the messages in flight, and the operations of the
// processes at its ends.
//
// Side 0 has connected, side 1 has listened. Functions that a process calls run on its loop. All other functions run on
// the world's loop and touch no future: they schedule wake() on the process's loop.

#include "flow/core/ring_queue.h"
#include "net/sim/sim_network.h"

#include <optional>

namespace flow::net {

class SimConnection;

class Session : public ReferenceCounted<Session>, public ListLink, NonCopyable {
public:
    /// Sends the request of `from` to connect.
    static Reference<Session> open(SimNetwork& network, Host& from, Address fromAddress, Host& to, Address toAddress);
    ~Session();

    // Called by the process at that side.

    Reference<Connection> handle(int side);
    Future<Void> established();
    /// Receives the bytes of one write, as Connection::fill() does; an error if there is one.
    bool hasReceived(int side) const { return !halves_[side].received.isEmpty(); }
    Bytes takeReceived(int side) { return takeReceived(halves_[side]); }
    Error error(int side) const { return halves_[side].error; }
    bool readEnded(int side) const { return halves_[side].readEnded; }
    void write(int side, Bytes bytes);
    void shutdownWrite(int side);
    void close(int side);
    /// The connection fails on the other side, and here with `error`.
    void abort(int side, Error error);
    void handleGone(int side);
    Address address(int side) const { return halves_[side].address; }

    // Called by machines.

    /// The machine of side 1 has taken the connection for a listener.
    void accepted();
    std::uint16_t port() const { return halves_[1].address.port(); }
    void lookAgain();
    /// From now on it is as fast as others, and all delayed messages may have arrived. To be followed by lookAgain().
    void speedUp();
    /// Stops the session.
    void vanish();
    /// Stops the end of a session that is at this place of its machine's list: its process has stopped.
    static void stop(ListLink* place, bool powerLost);
    /// See Attachment.
    static std::string sourceOf(ListLink* place, void const* what);

private:
    using Kind = SimNetwork::Kind;

    struct Segment {
        double at; // seconds of the world
        Bytes bytes;
        std::uint64_t credit;
        Kind kind;
    };
    /// The messages in flight from a side. Waits on the world's loop for the arrival of the first.
    struct Pipe : WaiterNode {
        Session* session;
        Cable* cable;
        RingQueue<Segment> segments; // while there are any, this holds a reference of the session
        double last = 0;             // arrival of the last one
        double freeAt = 0;           // of a slow connection: when the sent messages have left
    };
    /// The state of a side: of its machine, and the operations of its process. Gets a turn in the loop of the process
    /// when there is an event.
    struct Half : WaiterNode, ListLink { // the latter in the list of its machine
        Session* session;
        Host* host;
        Address address;
        RingQueue<Bytes> received;
        SimConnection* handle = nullptr; // the process has it
        std::optional<Promise<Void>> opening;
        std::size_t unreported = 0; // bytes that were read and not yet acknowledged
        Error error;                // of all operations, from here on
        bool isKnown = false;       // the machine has this end
        bool isEstablished = false;
        bool isClosed = false; // by the process
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
    double bandwidth_ = 0;  // of each direction, if it is a slow one
    int messagesLeft_ = -1; // for a connection that will be half open: the number of messages that still arrive
};

} // namespace flow::net
