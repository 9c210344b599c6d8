#pragma once
// RpcPeer: one connection to another process, with the frames to send, an incomplete received frame, and the waiters
// for replies. An RpcPeer is made at its first use, perhaps before the connection exists. Only net/rpc uses this file.
//
// An RpcPeer ends when its connection ends, or when the attempt to connect fails. If this process is the side that
// connects, a new RpcPeer then connects to the address, and waiters send again by the new RpcPeer. An RpcPeer never
// connects twice: otherwise an answer could go to another process that has got the address meanwhile.
//
// Frames are sent together at the end of the turn, or earlier if there are kBatch bytes or kMostFrames frames.

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

/// Waits for a message of one peer.
class PendingReply : public MessageReceiver, public ListLink {
public:
    RpcPeer const* onlyFrom() const override { return peer_; }
    /// Called when the connection has ended. Sends again on the next connection, or fails in a turn of its own.
    virtual void lost(Error error) = 0;
    /// Called when the node ends. Releases this object's reference to itself, so this object may be destroyed.
    virtual void abandoned() noexcept {}
    /// Called now and then. If nothing needs the result, releases (and may destroy) this object, and returns true.
    virtual bool dropIfUnwanted() { return false; }

protected:
    PendingReply() { next = nullptr; }
    ~PendingReply() override { stopWaiting(); }

    /// Gets a number. Until stopWaiting(), `peer` may send a message to this number.
    void waitFor(RpcPeer& peer);
    void stopWaiting() noexcept;
    /// Does what stopWaiting() does. If the node ends before this object is unlinked, the node calls abandoned().
    void stopWaitingHeld() noexcept;
    bool isWaiting() const { return number_ != 0; }
    std::uint64_t number() const { return number_; }
    RpcPeer* peer() const { return peer_; }

private:
    friend class RpcPeer;
    RpcPeer* peer_ = nullptr; // this peer calls lost() or abandoned() before the peer ends
    std::uint64_t number_ = 0;
};

/// Tells a ReplyPromise that nothing waits for the reply any more. A peer finds its calls by the numbers of their
/// replies.
class PeerCall final : public FastAllocated<PeerCall>, public ReferenceCounted<PeerCall>, Turn {
public:
    /// For a request of this process.
    PeerCall() : Turn(hand) {}
    /// For a request of `peer`. The requesting process finds the waiter for the reply by `number`.
    PeerCall(RpcPeer& peer, std::uint64_t number);
    ~PeerCall();

    bool isDropped() const { return isDropped_; }
    /// Waits until the requester has dropped the request, or its connection has ended. Ready in a turn of its own.
    Future<Void> onDrop() {
        if (isDropped_ && !dropped_)
            return Void();
        if (!dropped_)
            dropped_.emplace();
        return dropped_->getFuture();
    }

    /// Notes that nothing waits any more. The peer has removed this object from its calls_ before.
    void drop() {
        peer_ = nullptr;
        isDropped_ = true;
        if (dropped_)
            ask(TaskPriority::DefaultEndpoint);
    }
    /// Called when the node ends, and the peer with the node.
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

    /// `number` is the number of the connection, if the other process has made the connection.
    RpcPeer(rpc::Node& node, Side side, Address const& address, std::uint64_t number = 0);
    ~RpcPeer();

    /// Returns the address to which this process connects; for an accepted connection, the address of the other end.
    Address const& address() const { return address_; }
    bool isAccepted() const { return side_ == Side::Accepted; }
    std::uint64_t number() const { return number_; }
    /// False if the node or the connection has ended: then nothing can be sent.
    bool isOpen() const { return node_ && !isOver_; }
    rpc::Node* node() const { return node_; }
    ProtocolVersion version() const;
    /// Returns the number of bytes that wait to be sent.
    std::size_t queuedBytes() const { return out_.size() - sent_; }
    /// Waits until at most `bytes` bytes wait to be sent, or the connection has ended or cannot be made.
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

    /// Tells the peer that nothing waits for the reply with the number `reply` any more.
    void sendDrop(std::uint64_t reply) noexcept;

    // Only the node uses these functions.

    /// Sends and receives, from the greeting to the end of the connection. Fails with the error of the connection.
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
    Trigger wanted; // triggered when isWanted() has become true

private:
    friend class PeerCall;
    friend class PendingReply;
    static constexpr std::size_t kBatch = 64 * 1024;
    static constexpr std::uint32_t kMostFrames = 256;
    static constexpr std::size_t kSmallRead = 4 * 1024;   // the least size of a read while memory is short
    static constexpr std::size_t kMostGrowth = 64 * 1024; // the most that in_ grows beyond twice the received bytes
    /// The priority of flush(). The handlers of requests and replies of the same turn run first.
    static constexpr auto kFlushPriority =
        static_cast<TaskPriority>(static_cast<int>(TaskPriority::DefaultEndpoint) - 1);

    struct FlushTurn : Turn {
        explicit FlushTurn(RpcPeer& p)
            : Turn([](Turn& self) { static_cast<FlushTurn&>(self).peer.flush(); }), peer(p) {}
        RpcPeer& peer;
    };

    /// A frame that is larger than RpcOptions::largestMessage. Its bytes are skipped.
    struct Skipped {
        std::size_t left = 0;       // the number of bytes that have not come
        std::uint32_t checksum = 0; // the checksum in the frame's header
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
    /// Takes the greeting and whole frames from `bytes`. Returns the bytes used. May set `pause`: see deliver().
    std::size_t take(StringRef bytes, Future<Void>& pause);
    /// Skips a frame that is too large. Returns the number of bytes in `bytes` that belong to the frame.
    std::size_t skip(StringRef bytes);
    void makeRoom(std::size_t bytes);
    /// Gives the message to its receiver. Returns false if there is no room: try again when `pause` is ready.
    bool deliver(ParsedFrame const& frame, Future<Void>& pause);
    void dropUnwanted();

    rpc::Node* node_;
    Side side_;
    bool isOver_ = false;
    bool isBlocked_ = false; // the kernel takes no more bytes for now
    bool isGreeted_ = false; // the greeting of the other side has come, and is compatible
    bool isPaused_ = false;  // nothing is read for now
    ProtocolVersion theirs_;
    std::uint32_t frames_ = 0; // the number of frames in out_ since the last flush
    Address address_;
    std::uint64_t number_;
    Reference<Connection> connection_;
    std::string out_;
    std::size_t sent_ = 0;   // the bytes of out_ that are sent
    std::string in_;         // a frame that is not whole, or that its receiver has not taken
    std::size_t needed_ = 0; // the size of the frame in in_, as far as is known
    bool isChecked_ = false; // the checksum of the frame in in_ was checked, and is right
    Skipped skipped_;
    double lastHeard_ = 0;
    double lastSent_ = 0;  // if isBlocked_: the time when bytes were last sent
    std::size_t held_ = 0; // the memory that the node has counted for this peer
    Promise<Void> disconnected_;
    ListLink pending_;
    std::map<std::uint64_t, PeerCall*> calls_; // the calls that the peer has made; the key is PeerCall::number_
    HandlerSlot writing_;
    FlushTurn flushTurn_{*this};
    Trigger drained_; // triggered when fewer bytes wait to be sent
};

} // namespace flow::net
