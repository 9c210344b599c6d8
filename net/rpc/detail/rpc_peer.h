#pragma once
// RpcPeer: one connection to another process, with its buffers and the waiters for replies. An RpcPeer may exist before
// its connection. Only net/rpc uses this file.
//
// An RpcPeer ends when its connection ends, or when the attempt to connect fails. If this process is the side that
// connects, a new RpcPeer connects to the address, and the waiters send again to it. An RpcPeer never connects twice:
// otherwise an answer could go to another process that uses the address now.
//
// Frames are sent together at the end of the turn, or when there are kBatch bytes or kMostFrames frames.

#include "flow/coro/coroutine.h"
#include "flow/loop/turn.h"
#include "flow/memory/fast_allocator.h"
#include "flow/sync/trigger.h"
#include "flow/wait/handler_slot.h"
#include "net/connection.h"
#include "net/rpc/detail/receiver.h"
#include "net/rpc/detail/wire_format.h"

#include <map>
#include <memory>
#include <optional>

namespace flow::net {

namespace rpc {
class Node;
}

class PendingReply : public MessageReceiver, public ListLink {
public:
    RpcPeer const* onlyFrom() const override { return peer_; }
    /// Called when the connection has ended. Sends again on the next connection, or fails in a later turn.
    virtual void lost(Error error) = 0;
    /// Called when the node ends. May destroy this object.
    virtual void abandoned() noexcept {}
    /// Called periodically. If nothing needs the result, may destroy this object, and returns true.
    virtual bool dropIfUnwanted() { return false; }

protected:
    PendingReply() { next = nullptr; }
    ~PendingReply() override { stopWaiting(); }

    /// Gets a number. `peer` may send a message to this number until stopWaiting().
    void waitFor(RpcPeer& peer);
    void stopWaiting() noexcept;
    /// Like stopWaiting(). But if the node ends before this object is unlinked, it calls abandoned().
    void stopWaitingHeld() noexcept;
    bool isWaiting() const { return number_ != 0; }
    std::uint64_t number() const { return number_; }
    RpcPeer* peer() const { return peer_; }

private:
    friend class RpcPeer;
    RpcPeer* peer_ = nullptr; // calls lost() or abandoned() before it ends
    std::uint64_t number_ = 0;
};

/// A received request. It resumes ReplyPromise::onAbandoned() when nothing waits for the reply any more.
class PeerCall final : public FastAllocated<PeerCall>, public ReferenceCounted<PeerCall>, Turn {
public:
    PeerCall() : Turn(hand) {}
    /// `number` is for the reply to a request of `peer`. The default constructor is for requests of this process.
    PeerCall(RpcPeer& peer, std::uint64_t number);
    ~PeerCall();

    bool isDropped() const { return isDropped_; }
    /// Waits until the requester has dropped the request, or its connection has ended. Waiters resume in a later turn.
    Future<Void> onDrop() {
        if (isDropped_ && !dropped_)
            return Void();
        if (!dropped_)
            dropped_.emplace();
        return dropped_->getFuture();
    }

    /// Resumes onDrop(). The peer must have removed this object from calls_.
    void drop() {
        peer_ = nullptr;
        isDropped_ = true;
        if (dropped_)
            ask(TaskPriority::DefaultEndpoint);
    }
    /// Called when the node ends.
    void forgetPeer() { peer_ = nullptr; }

private:
    static void hand(Turn& turn) {
        auto& self = static_cast<PeerCall&>(turn);
        Promise<Void> dropped = *self.dropped_; // a waiter may destroy this object
        dropped.send(Void());
    }

    RpcPeer* peer_ = nullptr; // the requester
    std::uint64_t number_ = 0;
    bool isDropped_ = false;
    std::optional<Promise<Void>> dropped_;
};

class RpcPeer final : public ReferenceCounted<RpcPeer> {
public:
    enum class Side : bool { Connecting, Accepted };

    /// `number`: the number of an accepted connection.
    RpcPeer(rpc::Node& node, Side side, Address const& address, std::uint64_t number = 0);
    ~RpcPeer();

    /// Returns the address to connect to, or the address of the other end of an accepted connection.
    Address const& address() const { return address_; }
    bool isAccepted() const { return side_ == Side::Accepted; }
    std::uint64_t number() const { return number_; }
    /// False if the node or the connection has ended.
    bool isOpen() const { return node_ && !isOver_; }
    rpc::Node* node() const { return node_; }
    ProtocolVersion version() const;
    std::size_t queuedBytes() const { return out_.size() - sent_; }
    /// See rpc::Node::drainedTo().
    static Future<Void> drained(Reference<RpcPeer> peer, std::size_t bytes);

    /// Sends the message that write(ObjectWriter&) writes, if the peer is open. Throws value_too_large.
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
    /// Sends the error as the reply. Does nothing if `reply` is 0.
    void sendError(std::uint64_t reply, Error error, bool isUnknownEndpoint = false);

    /// Sends the span of the next request. `reply` is the number for its reply. On a failure, no span is sent.
    void sendTrace(std::uint64_t reply, trace::SpanContext const& span) noexcept;

    /// Informs the peer that nothing waits for the reply `reply` any more.
    void sendDrop(std::uint64_t reply) noexcept;

    // Only the node uses these functions.

    /// Sends and receives, from the greeting on. Fails with the error of the connection.
    Future<Void> run(Reference<Connection> connection);
    /// Called when the connection has ended, or could not be made. Calls lost() of the waiters.
    void lost(Error error);
    /// Called when the node ends.
    void shutDown();
    /// Returns the memory of an accepted peer's buffers.
    std::size_t heldBytes() const { return held_; }
    /// Frees unused memory of the buffers.
    void releaseRoom();
    void disconnect();
    /// True if a connection is needed.
    bool isWanted() const { return queuedBytes() != 0 || !pending_.isEmpty(); }
    Trigger wanted; // triggered when isWanted() becomes true

private:
    friend class PeerCall;
    friend class PendingReply;
    static constexpr std::size_t kBatch = 64 * 1024;
    static constexpr std::uint32_t kMostFrames = 256;
    static constexpr std::size_t kSmallRead = 4 * 1024;   // the smallest read while memory is short
    static constexpr std::size_t kMostGrowth = 64 * 1024; // in_ grows to at most this plus twice the received bytes
    /// Low, so that the handlers of requests and replies of the same turn run before flush().
    static constexpr auto kFlushPriority =
        static_cast<TaskPriority>(static_cast<int>(TaskPriority::DefaultEndpoint) - 1);

    struct FlushTurn : Turn {
        explicit FlushTurn(RpcPeer& p)
            : Turn([](Turn& self) { static_cast<FlushTurn&>(self).peer.flush(); }), peer(p) {}
        RpcPeer& peer;
    };

    /// A frame that is larger than RpcOptions::largestMessage. It is not stored.
    struct Skipped {
        std::size_t left = 0;       // bytes that have not come
        std::uint32_t checksum = 0; // the checksum in the frame's header
        std::uint32_t sum = 0;      // the checksum of the bytes that have come
        UID to;
        std::uint64_t reply = 0;
    };

    void finish(std::size_t begin);
    void flush();
    void release();
    void dropCall(std::uint64_t reply);
    void noteTrace(StringRef message);
    void account();
    void setHeld(std::size_t bytes);
    Future<Void> readFrames();
    Future<Void> refuse();
    Future<Void> watch();
    /// Processes the greeting and whole frames in `bytes`. Returns the number of used bytes. For `pause` see deliver().
    std::size_t take(StringRef bytes, Future<Void>& pause);
    std::size_t skip(StringRef bytes);
    void makeRoom(std::size_t bytes);
    /// Calls the receiver of the message. Returns false if it has no room: try again when `pause` is ready.
    bool deliver(ParsedFrame const& frame, Future<Void>& pause);
    void dropUnwanted();

    rpc::Node* node_;
    Side side_;
    bool isOver_ = false;
    bool isBlocked_ = false; // the kernel takes no more bytes
    bool isGreeted_ = false; // a compatible greeting has come
    bool isPaused_ = false;  // reading pauses
    ProtocolVersion theirs_;
    std::uint32_t frames_ = 0; // frames in out_ since the last flush
    Address address_;
    std::uint64_t number_;
    Reference<Connection> connection_;
    std::string out_;
    std::size_t sent_ = 0;   // the sent bytes of out_
    std::string in_;         // an incomplete frame, or a frame that its receiver has not taken
    std::size_t needed_ = 0; // the size of the frame in in_, if known
    bool isChecked_ = false; // the frame in in_ has passed its checksum
    Skipped skipped_;
    double lastHeard_ = 0;
    double lastSent_ = 0;  // if isBlocked_: the time of the last sent bytes
    std::size_t held_ = 0; // the part of Node::heldBytes_ for this peer
    Promise<Void> disconnected_;
    ListLink pending_;
    struct CallTrace {
        std::uint64_t number;
        trace::SpanContext span;
    };
    std::unique_ptr<CallTrace> trace_;         // the span of the request that comes next
    std::map<std::uint64_t, PeerCall*> calls_; // the peer's calls, by PeerCall::number_
    HandlerSlot writing_;
    FlushTurn flushTurn_{*this};
    Trigger drained_;
};

} // namespace flow::net
