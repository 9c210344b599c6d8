#pragma once
// ReplyPromise<T>: the member of a request with which the server replies.
//
//     struct GetRequest {
//         constexpr static FileIdentifier file_identifier = 6001;
//         std::string key;
//         ReplyPromise<std::string> reply;
//         template <class Ar>
//         void serialize(Ar& ar) { serializer(ar, key, reply); }
//     };
//     request.reply.send(value);                 // by the server
//     request.reply.sendError(key_too_large());
//
// All copies of a promise together send one answer. When the last copy is destroyed without an answer, the requester
// gets broken_promise. If the connection has ended, the answer is dropped. A process may forward the request to a third
// process. Then the answer comes back through the process that has forwarded the request.
//
// A server can stop work when nothing waits for the reply any more, if the type of the request allows it:
//
//     struct GetRequest {
//         static constexpr bool tellsAbandoned = true;
//         ...
//     };
//     auto first = co_await race(find(request.key), request.reply.onAbandoned());
//
// A client then sends one more frame when it drops the future of a request. The reply goes only to that future, unless
// the client has called getFuture() of the promise before. The handlers of rpc::serve() need none of this
// (net/rpc/service.h).
//
// T must be default-constructible and serializable (flow/memory/object.h). A promise belongs to one thread.

#include "flow/combine/forward.h"
#include "flow/memory/reference.h"
#include "net/rpc/detail/reply_body.h"
#include "net/rpc/node.h"

#include <optional>
#include <source_location>

namespace flow::net {

namespace rpc {

/// Returns the context of an archive. Throws unsupported_operation if the archive is not for a message.
template <class Ar>
MessageContext& messageContext(Ar& ar) {
    if constexpr (requires { ar.context(); })
        if (ar.context())
            return *static_cast<MessageContext*>(ar.context());
    throw unsupported_operation();
}

/// True if clients inform servers that nothing waits for the reply any more.
template <class Request>
concept TellsAbandoned = requires { requires Request::tellsAbandoned; };

/// The shared state of the copies of a ReplyPromise.
template <class T>
class ReplyState final : public FastAllocated<ReplyState<T>>,
                         public ReferenceCounted<ReplyState<T>>,
                         public PendingReply,
                         Turn {
public:
    ReplyState() : Turn(notify) {}
    /// Makes the server's state. The peer `to` has sent the request, and gets the reply.
    ReplyState(RpcPeer* to, std::uint64_t number)
        : Turn(notify), asker_(Reference<RpcPeer>::addRef(to)), theirs_(number) {}
    ~ReplyState() override {
        if (asker_ && !isAnswered_)
            answer([](RpcPeer& peer, std::uint64_t number) { peer.sendError(number, broken_promise()); });
    }

    Promise<T>& promise() {
        if (!promise_)
            promise_.emplace();
        return *promise_;
    }
    bool hasPromise() const { return promise_.has_value(); }
    bool isSet() const { return isAnswered_ || (promise_ && promise_->isSet()); }
    /// Returns the requester; null: this process.
    RpcPeer const* asker() const { return asker_.getPtr(); }

    template <class U>
    void send(U&& value, std::source_location caller = std::source_location()) {
        if (asker_) {
            FLOW_ASSERT_AT(caller, !isAnswered_, "a ReplyPromise is answered twice");
            answer([&](RpcPeer& peer, std::uint64_t number) {
                if constexpr (std::is_same_v<std::remove_cvref_t<U>, T>)
                    peer.send(UID(0, number), 0, [&](ObjectWriter& writer) { writeReply<T>(writer, value); });
                else
                    peer.send(UID(0, number), 0, [&](ObjectWriter& writer) { writeReply<T>(writer, T(value)); });
            });
        }
        if (!asker_ || promise_) {
            Reference<ReplyState> keep = Reference<ReplyState>::addRef(this);
            promise().send(std::forward<U>(value), caller);
        }
    }
    void sendError(Error error, std::source_location caller = std::source_location()) {
        if (asker_) {
            FLOW_ASSERT_AT(caller, !isAnswered_, "a ReplyPromise is answered twice");
            answer([&](RpcPeer& peer, std::uint64_t number) { peer.sendError(number, error); });
        }
        if (!asker_ || promise_) {
            Reference<ReplyState> keep = Reference<ReplyState>::addRef(this);
            promise().sendError(error, caller);
        }
    }
    /// Returns the object for onAbandoned(), and makes it at the first call. Call watch() before the program can use
    /// the promise.
    Reference<PeerCall> const& watch() {
        if (!call_)
            call_ = asker_ ? makeReference<PeerCall>(*asker_, theirs_) : makeReference<PeerCall>();
        return call_;
    }
    PeerCall* watched() const { return call_.getPtr(); }
    /// Makes the destructor send no broken_promise: other code answers, or nothing waits for the answer.
    void forget() { isAnswered_ = true; }

    /// Returns the number that the peer uses for this promise.
    std::uint64_t numberFor(RpcPeer& peer) {
        if (!isWaiting()) {
            waitFor(peer);
            self_ = Reference<ReplyState>::addRef(this);
        } else if (this->peer() != &peer) {
            throw unsupported_operation(); // the promise was sent to another peer before
        }
        return number();
    }
    void receive(ObjectReader& reader, MessageContext&) override {
        bool isUnknown;
        try {
            end(readReply<T>(reader, isUnknown));
        } catch (...) {
            end(ErrorOr<T>::failed(currentError()));
        }
    }
    void lost(Error error) override {
        end(ErrorOr<T>::failed(error.code() == error_code_incompatible_protocol_version ? error
                                                                                        : request_maybe_delivered()));
    }
    void abandoned() noexcept override {
        this->takeBack();
        Reference<ReplyState> last = std::move(self_);
    }
    bool dropIfUnwanted() override {
        bool isUnwanted = this->isSoleOwner() && !asker_ && (!promise_ || promise_->getFutureReferenceCount() == 0);
        if (isUnwanted) {
            stopWaiting();
            self_ = {};
        }
        return isUnwanted;
    }

private:
    template <class Send>
    void answer(Send send) {
        isAnswered_ = true;
        try {
            if (asker_->isOpen())
                send(*asker_, theirs_);
        } catch (...) {
            asker_->sendError(theirs_, currentError());
        }
    }
    /// Sends the result to the promise in a later turn.
    void end(ErrorOr<T> result) {
        stopWaitingHeld();
        result_ = std::move(result);
        this->ask(TaskPriority::DefaultPromiseEndpoint);
    }
    static void notify(Turn& turn) {
        auto& self = static_cast<ReplyState&>(turn);
        Reference<ReplyState> keep = std::move(self.self_);
        self.stopWaiting(); // unlinks `self` from Node::held_
        ErrorOr<T> result = std::move(self.result_);
        if (self.isSet())
            return;
        if (result.isError())
            self.sendError(result.getError());
        else
            self.send(std::move(result).get());
    }

    std::optional<Promise<T>> promise_;
    Reference<RpcPeer> asker_; // the requester; null: this process
    std::uint64_t theirs_ = 0;
    bool isAnswered_ = false;
    Reference<ReplyState> self_; // keeps the object alive while a peer has its number
    Reference<PeerCall> call_;   // for onAbandoned(), or null
    ErrorOr<T> result_;
};

template <class Request>
auto& replyIn(Request& request) {
    if constexpr (requires { request.reply; })
        return request.reply;
    else
        return request;
}

} // namespace rpc

template <class T>
class ReplyPromise {
public:
    using Element = T;

    ReplyPromise() = default;
    ReplyPromise(ReplyPromise const& other) : state_(other.shared()), number_(other.number_) {}
    ReplyPromise(ReplyPromise&& other) noexcept
        : state_(std::move(other.state_)), number_(std::exchange(other.number_, 0)) {}
    ReplyPromise& operator=(ReplyPromise const& other) { return *this = ReplyPromise(other); }
    ReplyPromise& operator=(ReplyPromise&& other) noexcept {
        Reference<State> before = std::exchange(state_, std::move(other.state_)); // its destructor may run code
        number_ = std::exchange(other.number_, 0);
        return *this;
    }

    template <class U = T>
        requires(!std::is_same_v<std::remove_cvref_t<U>, Never>) && std::is_constructible_v<T, U>
    void send(U&& value, std::source_location caller = std::source_location::current()) const {
        shared()->send(std::forward<U>(value), caller);
    }
    template <class U>
        requires(!std::is_same_v<std::remove_cvref_t<U>, Never>) && (!std::is_constructible_v<T, U>)
    FLOW_REFUSED(FLOW_NO_VALUE)
    void send(U&&) const {}
    void sendError(Error error, std::source_location caller = std::source_location::current()) const {
        shared()->sendError(error, caller);
    }
    /// Drops the promise: the requester gets no answer, not even an error.
    template <std::same_as<Never> N>
    void send(N) const {
        shared()->forget();
    }
    Future<T> getFuture() const { return shared()->promise().getFuture(); }
    /// Waits until the requester has dropped the future of its request, or its connection has ended. (If the connection
    /// has ended, getReply() sends the request again.) Call this function only for a received request of a type with
    /// tellsAbandoned, before the answer. Fails with broken_promise when all copies of this promise are destroyed. Only
    /// the end of the connection counts if the requester used send() or getFuture() of the promise, or if the request
    /// was forwarded.
    Future<Void> onAbandoned(std::source_location caller = std::source_location::current()) const {
        return watched(caller).onDrop();
    }
    bool isAbandoned(std::source_location caller = std::source_location::current()) const {
        return watched(caller).isDropped();
    }
    bool isSet() const { return state_ && state_->isSet(); }
    bool canBeSet() const { return !isSet(); }
    bool isValid() const { return true; }
    /// Returns the address of the requester as this process sees it, without a token.
    Endpoint getEndpoint() const {
        RpcPeer const* asker = state_ ? state_->asker() : nullptr;
        return asker ? Endpoint{{asker->address(), {}}, UID(), asker->isAccepted(), asker->number()}
                     : Endpoint{rpc::Node::current().getLocalAddresses(), UID(), false, 0};
    }
    void reset() { *this = ReplyPromise(); }
    std::uint32_t getFutureReferenceCount() const {
        return state_ && state_->hasPromise() ? state_->promise().getFutureReferenceCount() : 0;
    }

    template <class Ar>
    void serialize(Ar& ar) {
        MessageContext& context = rpc::messageContext(ar);
        std::uint64_t number = 0;
        if constexpr (Ar::isSerializing)
            number = numberFor(*context.peer);
        ar & number;
        if constexpr (Ar::isDeserializing) {
            state_ = number == 0 ? Reference<State>() : Reference<State>(new State(context.peer, number));
            number_ = 0;
        }
    }

    // Only net/rpc uses these functions.

    /// Sets the number of the receiver that gets the reply in this process; 0: the promise itself gets it.
    void setNumber(std::uint64_t number) { number_ = number; }
    std::uint64_t numberFor(RpcPeer& peer) const { return number_ != 0 ? number_ : shared()->numberFor(peer); }
    /// True if copies or futures may exist, so that the reply must go to the promise.
    bool isShared() const { return static_cast<bool>(state_); }
    void forget() const {
        if (state_)
            state_->forget();
    }
    Reference<PeerCall> const& watch() const { return shared()->watch(); }
    /// Makes this copy a new promise, unless it was received or has futures.
    void unshare() {
        if (state_ && !state_->asker() && getFutureReferenceCount() == 0)
            reset();
    }

private:
    using State = rpc::ReplyState<T>;

    PeerCall& watched(std::source_location caller) const {
        PeerCall* call = state_ ? state_->watched() : nullptr;
        FLOW_ASSERT_AT(caller, call,
                       "a received request has onAbandoned() only if its type has `tellsAbandoned = true`");
        return *call;
    }

    Reference<State> const& shared() const {
        if (!state_)
            state_ = Reference<State>(new State);
        return state_;
    }

    mutable Reference<State> state_; // made at first use
    std::uint64_t number_ = 0;
};

/// Returns the member `reply` of a request, or the request itself if it is a promise.
template <class Request>
auto const& getReplyPromise(Request const& request) {
    return rpc::replyIn(request);
}
/// Gives the request a new reply promise, so that it can be sent again.
template <class Request>
void resetReply(Request& request) {
    rpc::replyIn(request).reset();
}

template <class Request>
using ReplyOf = typename std::remove_cvref_t<decltype(rpc::replyIn(std::declval<Request&>()))>::Element;

} // namespace flow::net

namespace flow {

template <class T>
void forwardPromise(net::ReplyPromise<T> output, Future<T> input) {
    combine::forwardTo(std::move(output), std::move(input));
}

} // namespace flow
