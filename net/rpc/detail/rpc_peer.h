#pragma once
// RpcPeer: one connection to another process: frames that wait to be sent, an incomplete received frame, and the
// waiters for replies. It exists from the first use, which may be before the connection is made. Only net/rpc uses it.
//
// An RpcPeer ends with its connection, or with the attempt to connect. If this process has connected, a waiter sends
// again on the next connection to the address, which is another RpcPeer. So an answer never goes to another process,
// which may have the address by then.
//
// Frames are collected and sent at the end of the turn, or when there are kBatch bytes or kMostFrames frames of them.

#include "flow/coro/coroutine.h"
#include "flow/loop/turn.h"
#include "flow/memory/fast_allocator.h"
#include "flow/sync/trigger.h"
#include "flow/wait/handler_slot.h"
#include "net/connection.h"
#include "net/rpc/detail/receiver.h"
#include "net/rpc/detail/wire_format.h"

#include <map>
#include <optional>

namespace flow::net {

namespace rpc {
class Node;
}

/// A waiter for a message of one peer.
class PendingReply : public MessageReceiver, public ListLink {
public:
    RpcPeer const* onlyFrom() const override { return peer_; }
    /// Called when the connection has ended. Sends again on the next connection, or fails in a turn of its own.
    virtual void lost(Error error) = 0;
    /// Called when the node ends. Releases the reference to itself, which may destroy this object.
    virtual void abandoned() noexcept {}
    /// Called now and then. Releases this object if its result is not needed any more, which may destroy it.
    virtual bool dropIfUnwanted() { return false; }

protected:
    PendingReply() { next = nullptr; }
    ~PendingReply() override { stopWaiting(); }

    /// Gets a number to which `peer` may send, until stopWaiting().
    void waitFor(RpcPeer& peer);
    void stopWaiting() noexcept;
    /// Does the same as stopWaiting(), but the node still calls abandoned() if it ends before this is unlinked.
    void stopWaitingHeld() noexcept;
    bool isWaiting() const { return number_ != 0; }
    std::uint64_t number() const { return number_; }
    RpcPeer* peer() const { return peer_; }

private:
    friend class RpcPeer;
    RpcPeer* peer_ = nullptr; // calls lost() or abandoned() before it ends
    std::uint64_t number_ = 0;
};

/// A call of rpc::call() at the process that serves it, until the call has ended. The caller may drop it.
class PeerCall final : public FastAllocated<PeerCall>, public ReferenceCounted<PeerCall>, Turn {
public:
    /// Makes the state of a call by this process.
    PeerCall() : Turn(hand) {}
    /// Makes the state of a call by `peer`. `number` is the place for the reply in that process.
    PeerCall(RpcPeer& peer, std::uint64_t number);
    ~PeerCall();

    bool isDropped() const { return isDropped_; }
    /// Waits until the caller has dropped the call, or its connection has ended. Ready in a turn of its own.
    Future<Void> onDrop() {
        if (!dropped_)
            dropped_.emplace();
        return dropped_->getFuture();
    }

    /// Notes that the call is dropped; the peer has removed it.
    void drop() {
        peer_ = nullptr;
        isDropped_ = true;
        if (dropped_)
            ask(TaskPriority::DefaultEndpoint);
    }
    /// Called when the peer ends with its node.
    void forgetPeer() { peer_ = nullptr; }

private:
    static void hand(Turn& turn) {
        auto& self = static_cast<PeerCall&>(turn);
        Promise<Void> dropped = *self.dropped_; // its waiter may destroy this object
        dropped.send(Void());
    }

    RpcPeer* peer_ = nullptr; // the peer that has made this call
    std::uint64_t number_ = 0;
    bool isDropped_ = false;
    std::optional<Promise<Void>> dropped_;
};

class RpcPeer final : public ReferenceCounted<RpcPeer> {
public:
    enum class Side : bool { Connecting, Accepted };

    /// `number` is the number of the connection, if the other side has made it.
    RpcPeer(rpc::Node& node, Side side, Address const& address, std::uint64_t number = 0);
    ~RpcPeer();

    /// Returns the address at which the peer listens, or that of its connection if it has connected to this process.
    Address const& address() const { return address_; }
    bool isAccepted() const { return side_ == Side::Accepted; }
    std::uint64_t number() const { return number_; }
    /// True if sent messages may arrive: false when the node or the connection has ended.
    bool isOpen() const { return node_ && !isOver_; }
    rpc::Node* node() const { return node_; }
    ProtocolVersion version() const;
    /// Returns the number of bytes that wait to be sent.
    std::size_t queuedBytes() const { return out_.size() - sent_; }
    /// Waits until at most `bytes` of these bytes are left, or the connection has ended.
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
    /// Sends the error as the reply. Does nothing if `reply` is 0, which means that no reply is expected.
    void sendError(std::uint64_t reply, Error error, bool isUnknownEndpoint = false);

    /// Tells the peer that the call with this place for its reply is not awaited any more.
    void sendDrop(std::uint64_t reply) noexcept;

    // Only the node uses these functions.

    /// Runs from the greeting to the end of the connection, and fails with its error.
    Future<Void> run(Reference<Connection> connection);
    /// Called when the connection has ended, or could not be made. Informs the waiters. Nothing is sent any more.
    void lost(Error error);
    /// Called when the node ends. Nothing is sent or received any more.
    void shutDown();
    /// Returns the memory of an accepted peer's buffers: of incomplete, waiting and unsent frames.
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
    static constexpr std::size_t kMostGrowth = 64 * 1024; // the most that in_ grows beyond twice the received bytes
    /// The priority of a flush, which runs after the handlers of requests and replies of the same turn.
    static constexpr auto kFlushPriority =
        static_cast<TaskPriority>(static_cast<int>(TaskPriority::DefaultEndpoint) - 1);

    struct FlushTurn : Turn {
        explicit FlushTurn(RpcPeer& p)
            : Turn([](Turn& self) { static_cast<FlushTurn&>(self).peer.flush(); }), peer(p) {}
        RpcPeer& peer;
    };

    /// A frame that is larger than RpcOptions::largestMessage.
    struct Skipped {
        std::size_t left = 0;       // the number of bytes that have not come
        std::uint32_t checksum = 0; // the checksum in its header
        std::uint32_t sum = 0;      // the checksum of the bytes that have come
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
    /// Takes the greeting and whole frames from `bytes`. Returns the number of bytes used.
    std::size_t take(StringRef bytes, Future<Void>& pause);
    /// Receives a frame that is too large, without keeping it. Returns the number of its bytes.
    std::size_t skip(StringRef bytes);
    void makeRoom(std::size_t bytes);
    /// Gives the message to its receiver. Returns false if the receiver does not take it before `pause` is ready.
    bool deliver(ParsedFrame const& frame, Future<Void>& pause);
    void dropUnwanted();

    rpc::Node* node_;
    Side side_;
    bool isOver_ = false;
    bool isBlocked_ = false; // the kernel takes no more for now
    bool isGreeted_ = false; // the other side's greeting was received, and is compatible
    bool isPaused_ = false;  // nothing is read for now
    ProtocolVersion theirs_;
    std::uint32_t frames_ = 0; // the number of frames in out_ since the last flush
    Address address_;
    std::uint64_t number_;
    Reference<Connection> connection_;
    std::string out_;
    std::size_t sent_ = 0;   // the bytes of out_ that are sent
    std::string in_;         // a frame that is not whole, or that its receiver has not taken
    std::size_t needed_ = 0; // the bytes of that frame, as far as is known
    bool isChecked_ = false; // the checksum of that frame is right
    Skipped skipped_;
    double lastHeard_ = 0;
    double lastSent_ = 0;  // if blocked: when some of the waiting bytes were last sent
    std::size_t held_ = 0; // the memory that the node has counted for this peer
    Promise<Void> disconnected_;
    ListLink pending_;
    std::map<std::uint64_t, PeerCall*> calls_; // the calls of the peer, by the place for the reply
    HandlerSlot writing_;
    FlushTurn flushTurn_{*this};
    Trigger drained_; // fewer bytes wait
};

} // namespace flow::net
