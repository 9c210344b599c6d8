#pragma once
// ReplyPromiseStream<T>: the member of a request with which the server sends many replies.
//
//     struct Row : ReplyPromiseStreamReply { ... };
//     struct ScanRequest {
//         std::string from;
//         ReplyPromiseStream<Row> reply;
//         template <class Ar>
//         void serialize(Ar& ar) { serializer(ar, from, reply); }
//     };
//     // The server:
//     request.reply.setByteLimit(100'000);
//     for (Row& row : rows) {
//         co_await request.reply.onReady();        // waits while too many bytes are unread
//         request.reply.send(row);
//     }
//     request.reply.sendError(end_of_stream());
//     // The client:
//     ReplyPromiseStream<Row> rows = store.scan.getReplyStream(request);
//     for (;;)
//         use(co_await rows.getFuture());          // ends with end_of_stream, or connection_failed
//
// A sent reply counts with its expectedSize() or sizeof for the byte limit, until the client's stream is empty. When
// the client drops the stream, or the connection ends, onReady() fails with operation_obsolete, and further replies are
// dropped. When the server destroys its copies without sendError(), the client gets broken_promise. Within one process,
// nothing is serialized. A stream belongs to one thread.

#include "flow/core/callback.h"
#include "flow/sync/trigger.h"
#include "net/rpc/reply_promise.h"

#include <limits>

namespace flow::net {

/// The base class of the replies in a stream. A program serializes these members together with its own.
struct ReplyPromiseStreamReply {
    Optional<UID> acknowledgeToken;
    std::uint16_t sequence = 0;
};

namespace rpc {

/// A message to the server: the client has taken `taken` bytes so far. `isOver`: the client has dropped the stream.
struct StreamNews {
    constexpr static FileIdentifier file_identifier = 0x4D525341;
    std::uint64_t taken = 0;
    bool isOver = false;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, taken, isOver);
    }
};

/// The shared state of the copies of a stream, at the client, at the server, or for both.
template <class T>
class ReplyStreamState final : public ReferenceCounted<ReplyStreamState<T>>, public PendingReply, Callback<Void>, Turn {
public:
    ReplyStreamState() : Turn(hand) {}
    /// Makes the server's state. The peer `to` has sent the request, and gets the replies.
    ReplyStreamState(RpcPeer* to, std::uint64_t number)
        : Turn(hand), asker_(Reference<RpcPeer>::addRef(to)), theirs_(number) {
        PendingReply::waitFor(*to);
    }
    ~ReplyStreamState() override {
        if (asker_)
            end(broken_promise());
    }

    FutureStream<T> future() {
        wasRead_ = true;
        return stream_.getFuture();
    }
    void send(T&& value) {
        if (isEnded_)
            return;
        std::uint64_t bytes = sizeOf(value);
        sentBytes_ += bytes;
        if (!asker_) {
            stream_.send(std::move(value));
            return expectEmpty();
        }
        value.sequence = sequence_++;
        asker_->send(UID(0, theirs_), number(), [&](ObjectWriter& writer) { writeReply<T>(writer, value); });
    }
    void end(Error error) {
        if (std::exchange(isEnded_, true))
            return;
        stopWaiting();
        if (asker_)
            asker_->sendError(theirs_, error);
        else
            stream_.sendError(error);
    }
    void setByteLimit(std::uint64_t limit) {
        limit_ = limit;
        notifyReady();
    }
    std::uint64_t byteLimit() const { return limit_; }
    Future<Void> onReady() {
        if (isObsolete_ || (!asker_ && wasRead_ && isUnread()))
            return operation_obsolete();
        if (sentBytes_ - takenBytes_ < limit_)
            return Void();
        return keep(ready_.next());
    }
    bool isEnded() const { return isEnded_; }

    std::uint64_t numberFor(RpcPeer& peer) {
        if (!isWaiting()) {
            PendingReply::waitFor(peer);
            self_ = Reference<ReplyStreamState>::addRef(this);
            reader_ = Reference<RpcPeer>::addRef(&peer);
        }
        return number();
    }
    /// At the client, receives a reply or the end of the stream. At the server, receives StreamNews.
    void receive(ObjectReader& reader, MessageContext& context) override {
        if (asker_)
            return receiveNews(reader);
        if (context.reply != 0)
            theirs_ = context.reply;
        try {
            bool isUnknown = false;
            ErrorOr<T> reply = readReply<T>(reader, isUnknown);
            if (reply.isError())
                return over(reply.getError());
            arrivedBytes_ += sizeOf(reply.get());
            arrived_.push(std::move(reply).get());
            this->ask(TaskPriority::DefaultPromiseEndpoint);
        } catch (...) {
            over(currentError());
        }
    }
    void lost(Error error) override {
        bool isVersion = error.code() == error_code_incompatible_protocol_version;
        if (asker_) {
            stopWaiting();
            becomeObsolete();
            return;
        }
        over(isVersion ? error : connection_failed());
    }
    void abandoned() noexcept override {
        this->takeBack();
        Reference<ReplyStreamState> last = std::move(self_);
    }
    bool dropIfUnwanted() override {
        if (asker_ || !this->isSoleOwner() || !isUnread())
            return false;
        notifyTaken(true);
        stopWaiting();
        self_ = {};
        return true;
    }
    /// Called by the destructor of each copy. Drops the stream if nothing uses it any more.
    void copyGone() {
        if (self_ && this->debugGetReferenceCount() == 2 && isUnread() && !this->isAsked())
            dropIfUnwantedNow();
    }

private:
    static std::uint64_t sizeOf(T const& value) {
        if constexpr (requires { value.expectedSize(); })
            return static_cast<std::uint64_t>(value.expectedSize());
        else
            return sizeof(T);
    }
    /// True if no FutureStream exists.
    bool isUnread() const {
        FutureStream<T> one = stream_.getFuture();
        return one.cell()->futures == 1;
    }
    void dropIfUnwantedNow() {
        notifyTaken(true);
        stopWaiting();
        Reference<ReplyStreamState> last = std::move(self_);
    }
    void notifyTaken(bool isOver) {
        if (reader_ && theirs_ != 0)
            reader_->send(UID(0, theirs_), 0,
                          [&](ObjectWriter& writer) { writer.serialize(StreamNews{takenBytes_, isOver}); });
    }
    void receiveNews(ObjectReader& reader) {
        StreamNews news;
        try {
            reader.deserialize(news);
        } catch (Error&) {
            news.isOver = true;
        }
        takenBytes_ = std::max(takenBytes_, std::min(news.taken, sentBytes_));
        if (news.isOver) {
            stopWaiting();
            becomeObsolete();
        } else {
            this->ask(TaskPriority::DefaultPromiseEndpoint);
        }
    }
    void becomeObsolete() {
        isEnded_ = isObsolete_ = true;
        this->ask(TaskPriority::DefaultPromiseEndpoint);
    }
    void over(Error error) {
        stopWaitingHeld();
        last_ = error;
        this->ask(TaskPriority::DefaultPromiseEndpoint);
    }
    void notifyReady() {
        if (isObsolete_)
            ready_.fail(operation_obsolete());
        else if (sentBytes_ - takenBytes_ < limit_)
            ready_.trigger(TaskPriority::DefaultPromiseEndpoint);
    }
    /// Called by the turn. Puts received replies into the stream, or resumes the sender.
    static void hand(Turn& turn) {
        auto& self = static_cast<ReplyStreamState&>(turn);
        Reference<ReplyStreamState> keep = Reference<ReplyStreamState>::addRef(&self);
        if (self.asker_)
            return self.notifyReady();
        try {
            while (!self.arrived_.isEmpty()) {
                self.stream_.send(std::move(self.arrived_.front()));
                (void)self.arrived_.pop();
            }
            self.sentBytes_ = self.arrivedBytes_;
            if (!self.last_.isValid())
                return self.expectEmpty();
        } catch (std::bad_alloc&) { // a later turn tries again
            return self.ask(TaskPriority::DefaultPromiseEndpoint);
        }
        self.stopWaiting(); // unlinks `self` from Node::held_
        self.isEnded_ = true;
        self.stream_.sendError(self.last_);
        self.self_ = {};
    }
    /// Counts all sent replies as taken as soon as the stream is empty.
    void expectEmpty() {
        if (isExpecting_)
            return;
        Future<Void> empty = stream_.onEmpty();
        if (empty.isReady())
            return fire(Void());
        isExpecting_ = true;
        empty.addCallbackAndClear(static_cast<Callback<Void>*>(this));
    }
    void fire(Void const&) override {
        isExpecting_ = false;
        takenBytes_ = sentBytes_;
        if (reader_)
            notifyTaken(false);
        else
            notifyReady();
    }
    void fire(Void&& value) override { fire(std::as_const(value)); }
    void error(Error) override { isExpecting_ = false; }

    PromiseStream<T> stream_;
    Trigger ready_;
    Reference<RpcPeer> asker_;         // at the server: the requester
    Reference<RpcPeer> reader_;        // at the client: the server
    Reference<ReplyStreamState> self_; // keeps the object alive while the server has its number
    std::uint64_t theirs_ = 0;         // the other side's number
    std::uint64_t sentBytes_ = 0;      // at the client: bytes put into the stream
    std::uint64_t takenBytes_ = 0;
    std::uint64_t arrivedBytes_ = 0;
    std::uint64_t limit_ = std::numeric_limits<std::int64_t>::max();
    RingQueue<T> arrived_;
    Error last_;
    std::uint16_t sequence_ = 0;
    bool isEnded_ = false, isObsolete_ = false, isExpecting_ = false, wasRead_ = false;
};

} // namespace rpc

template <class T>
class ReplyPromiseStream {
public:
    using Element = T;

    ReplyPromiseStream() = default;
    ReplyPromiseStream(ReplyPromiseStream const& other) : state_(other.shared()) {}
    ReplyPromiseStream(ReplyPromiseStream&&) noexcept = default;
    ReplyPromiseStream& operator=(ReplyPromiseStream const& other) { return *this = ReplyPromiseStream(other); }
    ReplyPromiseStream& operator=(ReplyPromiseStream&& other) noexcept {
        drop();
        state_ = std::move(other.state_);
        return *this;
    }
    ~ReplyPromiseStream() { drop(); }

    /// Returns the stream of the received replies, for one reader.
    FutureStream<T> getFuture() const { return shared()->future(); }
    template <class U = T>
        requires std::is_constructible_v<T, U>
    void send(U&& value) const {
        shared()->send(T(std::forward<U>(value)));
    }
    template <class U>
        requires(!std::is_constructible_v<T, U>)
    FLOW_REFUSED(FLOW_NO_VALUE)
    void send(U&&) const {}
    /// Ends the stream. Only the first call has an effect.
    void sendError(Error error) const { shared()->end(error); }
    /// Waits until fewer bytes than the limit are sent and unread.
    Future<Void> onReady() const { return shared()->onReady(); }
    void setByteLimit(std::int64_t bytes) const { shared()->setByteLimit(static_cast<std::uint64_t>(bytes)); }
    std::int64_t getByteLimit() const { return static_cast<std::int64_t>(shared()->byteLimit()); }
    bool isValid() const { return true; }
    void reset() { *this = ReplyPromiseStream(); }

    template <class Ar>
    void serialize(Ar& ar) {
        MessageContext& context = rpc::messageContext(ar);
        std::uint64_t number = 0;
        if constexpr (Ar::isSerializing)
            number = numberFor(*context.peer);
        ar & number;
        if constexpr (Ar::isDeserializing)
            *this = number == 0 ? ReplyPromiseStream() : ReplyPromiseStream(new State(context.peer, number));
    }

    // Only net/rpc uses these functions.

    std::uint64_t numberFor(RpcPeer& peer) const { return shared()->numberFor(peer); }
    bool isShared() const { return true; }

private:
    using State = rpc::ReplyStreamState<T>;

    explicit ReplyPromiseStream(State* state) : state_(state) {}
    void drop() noexcept {
        if (state_)
            state_->copyGone();
        state_ = {};
    }
    Reference<State> const& shared() const {
        if (!state_)
            state_ = Reference<State>(new State);
        return state_;
    }

    mutable Reference<State> state_;
};

} // namespace flow::net
