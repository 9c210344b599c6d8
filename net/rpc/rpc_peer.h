#pragma once
// RpcPeer: one connection to another process, from the first use on, which may be before it is made: frames that wait
// to be sent, an incomplete received frame, and the waiters for its replies. Used by net/rpc alone.
//
// It ends with its connection, or with the attempt to connect. If this process has connected, a waiter sends again on
// the next connection to the address, which is another RpcPeer. So an answer never goes to another process, which may
// have the address by then.
//
// Frames are collected and sent at the end of the turn, or when there are kBatch bytes or kMostFrames frames of them.

#include "flow/coro/coroutine.h"
#include "flow/loop/turn.h"
#include "flow/memory/fast_allocator.h"
#include "flow/sync/trigger.h"
#include "flow/wait/handler_slot.h"
#include "net/connection.h"
#include "net/rpc/frame.h"
#include "net/rpc/receiver.h"

#include <map>
#include <optional>

namespace flow::net {

class FlowTransport;

/// A waiter for a message of one peer.
class PendingReply : public MessageReceiver, public ListLink {
public:
    RpcPeer const* onlyFrom() const override { return peer_; }
    /// The connection has ended: sends again on the next one, or fails in a turn of its own.
    virtual void lost(Error error) = 0;
    /// The transport ends: releases the reference to itself. May destroy this.
    virtual void abandoned() noexcept {}
    /// Called now and then: releases this if its result is not needed any more. May destroy this.
    virtual bool dropIfUnwanted() { return false; }

protected:
    PendingReply() { next = nullptr; }
    ~PendingReply() override { stopWaiting(); }

    /// Gets a number, to which the peer may send, until stopWaiting().
    void waitFor(RpcPeer& peer);
    void stopWaiting() noexcept;
    /// Like stopWaiting(), but the transport still ends it, until it is unlinked.
    void stopWaitingHeld() noexcept;
    bool isWaiting() const { return number_ != 0; }
    std::uint64_t number() const { return number_; }
    RpcPeer* peer() const { return peer_; }

private:
    friend class RpcPeer;
    RpcPeer* peer_ = nullptr; // informs this before it ends
    std::uint64_t number_ = 0;
};

/// A call of rpc::call() at the process that serves it, until it has ended. Its caller may drop it.
class PeerCall final : public FastAllocated<PeerCall>, public ReferenceCounted<PeerCall>, Turn {
public:
    /// For a call of this process.
    PeerCall() : Turn(hand) {}
    /// For one of another process, with the place for its reply there.
    PeerCall(RpcPeer& peer, std::uint64_t number);
    ~PeerCall();

    bool isDropped() const { return isDropped_; }
    /// Ready, in a turn of its own, when the caller has dropped the call, or the connection to it has ended.
    Future<Void> onDrop() {
        if (!dropped_)
            dropped_.emplace();
        return dropped_->getFuture();
    }

    /// The peer has removed it.
    void drop() {
        peer_ = nullptr;
        isDropped_ = true;
        if (dropped_)
            ask(TaskPriority::DefaultEndpoint);
    }
    /// The peer has ended with its transport.
    void forgetPeer() { peer_ = nullptr; }

private:
    static void hand(Turn& turn) {
        auto& self = static_cast<PeerCall&>(turn);
        Promise<Void> dropped = *self.dropped_; // its waiter destroys this
        dropped.send(Void());
    }

    RpcPeer* peer_ = nullptr; // which has this call
    std::uint64_t number_ = 0;
    bool isDropped_ = false;
    std::optional<Promise<Void>> dropped_;
};

class RpcPeer final : public ReferenceCounted<RpcPeer> {
public:
    enum class Side : bool { Connecting, Accepted };

    /// `number`: of the connection, if the other side has made it.
    RpcPeer(FlowTransport& transport, Side side, Address const& address, std::uint64_t number = 0);
    ~RpcPeer();

    /// The address at which it listens; for a peer that has connected to this process, the address of its connection.
    Address const& address() const { return address_; }
    bool isAccepted() const { return side_ == Side::Accepted; }
    std::uint64_t number() const { return number_; }
    /// True if sent messages may arrive: false when the transport or the connection has ended.
    bool isOpen() const { return transport_ && !isOver_; }
    FlowTransport* transport() const { return transport_; }
    ProtocolVersion version() const;
    /// Bytes that wait to be sent.
    std::size_t queuedBytes() const { return out_.size() - sent_; }
    /// Ready when no more than `bytes` of these are left, or the connection has ended.
    static Future<Void> drained(Reference<RpcPeer> peer, std::size_t bytes);

    /// Sends a message, which `write(ObjectWriter&)` writes. Does nothing if the peer is not open. Throws
    /// value_too_large.
    template <class Write>
    void send(UID to, std::uint64_t reply, Write write) {
        if (!isOpen())
            return;
        std::size_t begin = beginFrame(out_, to, reply);
        try {
            MessageContext context{this};
            ObjectWriter writer(out_, AssumeVersion(version()));
            writer.setContext(&context);
            write(writer);
            finish(begin);
        } catch (...) {
            out_.resize(begin);
            throw;
        }
    }
    /// Sends the error as the reply; does nothing if there is no place for one.
    void sendError(std::uint64_t reply, Error error, bool isUnknownEndpoint = false);

    /// Says that the call with this place for its reply is not awaited any more.
    void sendDrop(std::uint64_t reply) noexcept;

    // For the transport.

    /// Runs from the greeting to the end of the connection, and fails with its error.
    Future<Void> run(Reference<Connection> connection);
    /// The connection has ended, or could not be made: informs the waiters. Nothing is sent any more.
    void lost(Error error);
    /// The transport ends: nothing is sent or received any more.
    void shutDown();
    /// The bytes of an incomplete frame, of received frames that wait, and of unsent ones; with the room for more.
    std::size_t heldBytes() const { return held_; }
    /// Frees buffers that are larger than their contents.
    void releaseRoom();
    /// Ends an accepted connection.
    void disconnect();
    /// True if a connection is needed.
    bool isWanted() const { return queuedBytes() != 0 || !pending_.isEmpty(); }
    Trigger wanted; // when isWanted() has become true

private:
    friend class PeerCall;
    friend class PendingReply;
    static constexpr std::size_t kBatch = 64 * 1024;
    static constexpr std::uint32_t kMostFrames = 256;
    static constexpr std::size_t kSmallRead = 4 * 1024;   // while memory is short
    static constexpr std::size_t kMostGrowth = 64 * 1024; // of in_, beyond twice what has come
    /// Runs after the handlers of requests and replies of the same turn.
    static constexpr auto kFlushPriority =
        static_cast<TaskPriority>(static_cast<int>(TaskPriority::DefaultEndpoint) - 1);

    struct FlushTurn : Turn {
        explicit FlushTurn(RpcPeer& p)
            : Turn([](Turn& self) { static_cast<FlushTurn&>(self).peer.flush(); }), peer(p) {}
        RpcPeer& peer;
    };

    /// A frame that is larger than RpcOptions::largestMessage.
    struct Skipped {
        std::size_t left = 0;       // bytes that have not come
        std::uint32_t checksum = 0; // of its header
        std::uint32_t sum = 0;      // of the bytes that have come
        UID to;
        std::uint64_t reply = 0;
    };

    void finish(std::size_t begin);
    void flush();
    void release();
    void dropCall(std::uint64_t reply);
    void account();
    void setHeld(std::size_t bytes);
    Future<Void> readFrames();
    Future<Void> refuse();
    Future<Void> watch();
    /// Takes the greeting and whole frames; returns the number of bytes used.
    std::size_t take(StringRef bytes, Future<Void>& pause);
    /// Receives a frame that is too large, without keeping it. Returns the number of its bytes.
    std::size_t skip(StringRef bytes);
    void makeRoom(std::size_t bytes);
    /// False if the receiver does not take the message before `pause` is ready.
    bool deliver(ParsedFrame const& frame, Future<Void>& pause);
    void dropUnwanted();

    FlowTransport* transport_;
    Side side_;
    bool isOver_ = false;
    bool isBlocked_ = false; // the kernel takes no more for now
    bool isGreeted_ = false; // the other side's greeting was received, and is compatible
    bool isPaused_ = false;  // nothing is read for now
    ProtocolVersion theirs_;
    std::uint32_t frames_ = 0; // in out_ since the last flush
    Address address_;
    std::uint64_t number_;
    Reference<Connection> connection_;
    std::string out_;
    std::size_t sent_ = 0;   // of it
    std::string in_;         // a frame that is not whole, or that its receiver has not taken
    std::size_t needed_ = 0; // its bytes, as far as is known
    bool isChecked_ = false; // its checksum is right
    Skipped skipped_;
    double lastHeard_ = 0;
    double lastSent_ = 0;  // some of what waits, if it is blocked
    std::size_t held_ = 0; // as the transport has counted it
    Promise<Void> disconnected_;
    ListLink pending_;
    std::map<std::uint64_t, PeerCall*> calls_; // that it has made, by the place for the reply
    HandlerSlot writing_;
    FlushTurn flushTurn_{*this};
    Trigger drained_; // fewer bytes wait
};

} // namespace flow::net
