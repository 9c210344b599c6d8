// One connection to another process.
//
// Sending: send() appends a frame to out_; flush() writes out_ at the end of the turn, or when there are many bytes.
// Receiving: readFrames() reads into a buffer of the node. take() delivers whole frames from that buffer; only the rest
// is copied into in_. A frame that is too large is skipped and not stored. If a receiver has no room, the frame stays
// in in_, and reading pauses. watch() sends pings, and ends the connection if the peer is silent or does not read.
//
// The end: run() fails, and the node calls lost(). Then each waiter sends again to the next peer, or fails.

#include "net/rpc/detail/rpc_peer.h"

#include "flow/combine/race.h"
#include "flow/wait/delay.h"
#include "net/rpc/detail/checksum.h"
#include "net/rpc/detail/reply_body.h"
#include "net/rpc/node.h"

#include <algorithm>

namespace flow::net {

// -------------------------------------------------------------------------------------------------------------------
// Waiters for replies

void PendingReply::waitFor(RpcPeer& peer) {
    peer_ = &peer;
    number_ = peer.node_->endpoints().addReply(*this);
    pushBack(peer.pending_, *this);
}

void PendingReply::stopWaiting() noexcept {
    if (number_ != 0)
        peer_->node_->endpoints().removeReply(number_);
    if (isLinked())
        unlink();
    number_ = 0;
    peer_ = nullptr;
}

void PendingReply::stopWaitingHeld() noexcept {
    rpc::Node* node = peer_ ? peer_->node_ : nullptr;
    stopWaiting();
    if (node)
        pushBack(node->held_, *this);
}

void RpcPeer::dropUnwanted() {
    for (ListLink* each = pending_.next; each != &pending_;) {
        ListLink* next = each->next;
        static_cast<PendingReply*>(each)->dropIfUnwanted();
        each = next;
    }
}

// -------------------------------------------------------------------------------------------------------------------
// Calls

PeerCall::PeerCall(RpcPeer& peer, std::uint64_t number) : Turn(hand), number_(number) {
    if (peer.calls_.emplace(number, this).second) // otherwise another call has the number; this one cannot be dropped
        peer_ = &peer;
}

PeerCall::~PeerCall() {
    if (peer_)
        peer_->calls_.erase(number_);
}

void RpcPeer::dropCall(std::uint64_t reply) {
    auto found = calls_.find(reply);
    if (found == calls_.end()) // already answered
        return;
    PeerCall* call = found->second;
    calls_.erase(found);
    call->drop();
}

void RpcPeer::sendTrace(std::uint64_t reply, trace::SpanContext const& span) noexcept {
    if (!isOpen())
        return;
    std::size_t begin = out_.size();
    try {
        beginFrame(out_, UID(kWellKnown, kTraceOfCall), 0);
        reply = littleEndian(reply);
        out_.append(reinterpret_cast<char const*>(&reply), sizeof reply);
        out_.append(span.traceparent()).append(1, ' ').append(span.state);
        finish(begin);
    } catch (...) { // no memory, or too large: the request goes without its trace
        out_.resize(begin);
    }
}

void RpcPeer::noteTrace(StringRef message) {
    constexpr std::size_t kNumberBytes = 8;
    std::string_view text = message.toStringView();
    trace_.reset();
    if (text.size() < kNumberBytes)
        return;
    std::uint64_t number;
    std::memcpy(&number, text.data(), kNumberBytes);
    text.remove_prefix(kNumberBytes);
    std::size_t blank = std::min(text.find(' '), text.size());
    auto span = trace::SpanContext::parse(text.substr(0, blank), text.substr(std::min(blank + 1, text.size())));
    if (span)
        trace_ = std::make_unique<CallTrace>(CallTrace{littleEndian(number), std::move(*span)});
}

void RpcPeer::sendDrop(std::uint64_t reply) noexcept {
    try {
        send(UID(kWellKnown, kDroppedCall), reply, [](ObjectWriter&) {});
    } catch (...) { // no memory: the handler runs on
    }
}

// -------------------------------------------------------------------------------------------------------------------
// Sending

RpcPeer::RpcPeer(rpc::Node& node, Side side, Address const& address, std::uint64_t number)
    : node_(&node), side_(side), address_(address), number_(number) {
    pending_.reset();
}

RpcPeer::~RpcPeer() {
    FLOW_ASSERT(pending_.isEmpty(), "a peer is destroyed while its reply is waited for");
}

ProtocolVersion RpcPeer::version() const {
    return node_->options().version;
}

void RpcPeer::finish(std::size_t begin) {
    RpcOptions const& options = node_->options();
    if (out_.size() - begin - kFrameHeaderBytes > options.largestMessage)
        throw value_too_large();
    finishFrame(out_, begin, options.hasChecksums);
    account();
    ++node_->count().framesSent;
    if (!connection_) {
        if (side_ == Side::Connecting)
            wanted.trigger(TaskPriority::WriteSocket);
    } else if (++frames_ >= kMostFrames || queuedBytes() >= kBatch) {
        flush();
    } else {
        flushTurn_.ask(kFlushPriority);
    }
}

void RpcPeer::sendError(std::uint64_t reply, Error error, bool isUnknownEndpoint) {
    if (reply != 0)
        send(UID(0, reply), 0, [&](ObjectWriter& writer) { writeErrorReply(writer, error, isUnknownEndpoint); });
}

void RpcPeer::flush() {
    frames_ = 0;
    if (!connection_ || isBlocked_ || queuedBytes() == 0)
        return;
    ++node_->count().flushes;
    StringRef rest(std::string_view(out_).substr(sent_));
    std::size_t taken = connection_->tryWrite({&rest, 1});
    sent_ += taken;
    if (queuedBytes() == 0) {
        if (out_.capacity() > 4 * kBatch)
            out_ = std::string();
        out_.clear();
        sent_ = 0;
    } else {
        lastSent_ = now();
        if (sent_ > out_.size() / 2) {
            out_.erase(0, sent_);
            sent_ = 0;
        }
        isBlocked_ = true; // also after an error, which readFrames() reports
        call(connection_->writable(), writing_, [this](Error error) {
            isBlocked_ = error.isValid();
            flush();
        });
    }
    account();
    drained_.trigger(TaskPriority::WriteSocket);
}

void RpcPeer::account() {
    std::size_t bytes = in_.capacity() + out_.capacity();
    if (side_ == Side::Accepted && bytes != held_) [[unlikely]]
        setHeld(bytes);
}

void RpcPeer::setHeld(std::size_t bytes) {
    std::size_t before = std::exchange(held_, bytes);
    node_->changeHeld(before, bytes);
}

void RpcPeer::releaseRoom() {
    if (queuedBytes() < out_.capacity() / 4) {
        out_.erase(0, std::exchange(sent_, 0));
        out_.shrink_to_fit();
    }
    if (in_.size() < in_.capacity() / 4)
        in_.shrink_to_fit();
    account();
}

void RpcPeer::disconnect() {
    if (disconnected_.canBeSet())
        disconnected_.sendError(connection_failed());
}

Future<Void> RpcPeer::drained(Reference<RpcPeer> peer, std::size_t bytes) {
    while (peer->isOpen() && peer->queuedBytes() > bytes)
        co_await peer->drained_.next();
}

// -------------------------------------------------------------------------------------------------------------------
// Receiving

Future<Void> RpcPeer::run(Reference<Connection> connection) {
    connection_ = connection;
    lastHeard_ = lastSent_ = now();
    RpcOptions const& options = node_->options();
    out_.insert(0, greetingBytes({options.version, options.hasChecksums})); // no byte of out_ was sent yet
    flushTurn_.ask(kFlushPriority);
    (void)co_await race(readFrames(), watch(), disconnected_.getFuture());
}

Future<Void> RpcPeer::readFrames() {
    RpcOptions const& options = node_->options();
    for (;;) {
        bool isShort = side_ == Side::Accepted && node_->isShort();
        std::span<std::uint8_t> place = node_->scratch();
        if (isShort) // read few bytes, or the rest of a large frame
            place = place.first(std::clamp(std::max(needed_, in_.size()) - in_.size(), kSmallRead, place.size()));
        std::optional<std::size_t> count = connection_->tryReadSome(place);
        if (!count) {
            co_await connection_->readable();
            continue;
        }
        if (*count == 0) {
            Error failure = connection_->failure();
            throw failure.code() == error_code_end_of_stream ? connection_failed() : failure;
        }
        lastHeard_ = now();
        StringRef came(place.data(), static_cast<int>(*count));
        Future<Void> pause;
        if (in_.empty()) {
            std::size_t taken = take(came, pause);
            makeRoom(came.size() - taken);
            in_ += came.substr(static_cast<int>(taken)).toStringView();
        } else {
            makeRoom(came.size());
            in_ += came.toStringView();
            in_.erase(0, take(in_, pause));
        }
        if (theirs_.isValid() && !isGreeted_)
            co_await refuse();
        isPaused_ = true;
        while (pause.isValid()) {
            account();
            try {
                co_await std::exchange(pause, {});
            } catch (Error& error) {
                if (error.code() != error_code_broken_promise) // broken_promise: the receiver's stream has ended
                    throw;
            }
            in_.erase(0, take(in_, pause));
        }
        if (in_.empty() && in_.capacity() > (isShort ? kSmallRead : 4 * kBatch))
            in_ = std::string();
        account();
        std::size_t unsentBytes = isShort ? std::min(kBatch, options.unsentBytes) : options.unsentBytes;
        if (queuedBytes() > unsentBytes)
            co_await drained(Reference<RpcPeer>::addRef(this), unsentBytes / 2);
        isPaused_ = false;
        if (*count == place.size())
            co_await delay(0); // lets other peers read
    }
}

/// Makes room in in_ for `bytes` more bytes. For a large frame it makes more room, so that bytes are copied less often.
/// The size of in_ depends on the received bytes: a header alone must not cost much memory.
void RpcPeer::makeRoom(std::size_t bytes) {
    std::size_t needed = in_.size() + bytes;
    if (needed > in_.capacity())
        in_.reserve(std::max(needed, std::min(needed_, kMostGrowth + 2 * needed)));
}

/// Sends our greeting, ends the connection, and throws incompatible_protocol_version.
Future<Void> RpcPeer::refuse() {
    ++node_->count().brokenConnections;
    flush();
    connection_->shutdownWrite();
    double patience = side_ == Side::Accepted ? 1 : 0;
    auto rest = [](Connection* connection, std::span<std::uint8_t> place) -> Future<Void> {
        for (;;) {
            std::optional<std::size_t> count = connection->tryReadSome(place);
            if (count && *count == 0)
                co_return;
            co_await connection->readable();
        }
    };
    (void)co_await race(rest(connection_.getPtr(), node_->scratch()), delay(patience));
    throw incompatible_protocol_version();
}

std::size_t RpcPeer::take(StringRef bytes, Future<Void>& pause) {
    RpcOptions const& options = node_->options();
    int used = 0;
    if (!isGreeted_) {
        if (bytes.size() < static_cast<int>(kGreetingBytes))
            return 0;
        std::optional<Greeting> greeting = parseGreeting(bytes);
        if (!greeting) {
            ++node_->count().brokenConnections;
            throw serialization_failed();
        }
        theirs_ = greeting->version.isValid() ? greeting->version : ProtocolVersion(1);
        isGreeted_ = isCompatible(theirs_, options.version) && greeting->hasChecksums == options.hasChecksums;
        if (!isGreeted_)
            return static_cast<std::size_t>(bytes.size());
        if (side_ == Side::Connecting) // a node listens at address_
            node_->failureMonitor().setStatus(address_, FailureStatus(false));
        used = kGreetingBytes;
    }
    for (;;) {
        if (skipped_.left != 0) {
            used += static_cast<int>(skip(bytes.substr(used)));
            needed_ = 0;
            if (skipped_.left != 0)
                return static_cast<std::size_t>(used);
        }
        FrameLimits limits{options.largestMessage, options.hasChecksums && !std::exchange(isChecked_, false)};
        ParsedFrame frame = parseFrame(bytes.substr(used), limits);
        if (frame.fault == FrameFault::TooLarge) {
            skipped_ = {frame.needed - kFramePrefixBytes, checksumIn(bytes.substr(used)), 0, frame.to, frame.reply};
            used += static_cast<int>(kFramePrefixBytes);
            continue;
        }
        if (frame.fault != FrameFault::None) {
            ++node_->count().brokenConnections;
            throw frame.fault == FrameFault::Checksum ? checksum_failed() : serialization_failed();
        }
        if (frame.used == 0) {
            needed_ = frame.needed;
            return static_cast<std::size_t>(used);
        }
        if (!deliver(frame, pause)) {
            needed_ = 0;
            isChecked_ = true;
            return static_cast<std::size_t>(used);
        }
        used += static_cast<int>(frame.used);
        ++node_->count().framesReceived;
    }
}

/// Skips a too large frame. Returns how many bytes belong to it. At its end the requester or waiter gets an error.
std::size_t RpcPeer::skip(StringRef bytes) {
    bool hasChecksums = node_->options().hasChecksums;
    std::size_t taken = std::min(skipped_.left, static_cast<std::size_t>(bytes.size()));
    if (hasChecksums)
        skipped_.sum = crc32c(bytes.substr(0, static_cast<int>(taken)), skipped_.sum);
    skipped_.left -= taken;
    if (skipped_.left != 0)
        return taken;
    if (hasChecksums && skipped_.sum != skipped_.checksum) {
        ++node_->count().brokenConnections;
        throw checksum_failed();
    }
    ++node_->count().malformedMessages;
    if (skipped_.to.first() != 0) {
        sendError(skipped_.reply, value_too_large());
        return taken;
    }
    std::string error;
    ObjectWriter writer(error, AssumeVersion(theirs_));
    writeErrorReply(writer, value_too_large(), false);
    Future<Void> none;
    ParsedFrame instead;
    instead.to = skipped_.to;
    instead.message = error;
    deliver(instead, none);
    return taken;
}

bool RpcPeer::deliver(ParsedFrame const& frame, Future<Void>& pause) {
    if (frame.to == UID()) { // a ping, or its answer
        if (frame.reply != 0)
            send(UID(), 0, [](ObjectWriter&) {});
        return true;
    }
    if (frame.to == UID(kWellKnown, kDroppedCall)) {
        dropCall(frame.reply);
        return true;
    }
    if (frame.to == UID(kWellKnown, kTraceOfCall)) {
        noteTrace(frame.message);
        return true;
    }
    MessageReceiver* receiver = node_->endpoints().find(frame.to);
    if (!receiver || (receiver->onlyFrom() && receiver->onlyFrom() != this)) {
        ++node_->count().unknownEndpoints;
        sendError(frame.reply, frame.to.first() == kNamed ? service_not_found() : broken_promise(), true);
        return true;
    }
    MessageContext context{this, frame.reply};
    if (trace_ && trace_->number == frame.reply)
        context.trace = &trace_->span;
    ObjectReader reader(frame.message, AssumeVersion(theirs_));
    reader.setContext(&context);
    RpcOptions const& options = node_->options();
    reader.limitElements(RpcOptions::kElements + std::size_t{options.elementsPerByte} * reader.remaining());
    try {
        receiver->receive(reader, context);
    } catch (...) {
        Error error = currentError();
        if (error.code() == error_code_serialization_failed || error.code() == error_code_value_too_large)
            ++node_->count().malformedMessages;
        sendError(frame.reply, error);
    }
    pause = std::move(context.pause);
    if (trace_ && !pause.isValid())
        trace_.reset();
    return !pause.isValid();
}

Future<Void> RpcPeer::watch() {
    RpcOptions const& options = node_->options();
    double begin = now();
    double asked = begin; // since when replies are awaited: a silence before does not count
    for (;;) {
        bool wasPending = !pending_.isEmpty();
        bool isWaitedFor = wasPending || side_ == Side::Connecting || !isGreeted_;
        double idle = 60 * options.pingTimeout;
        double pause = isWaitedFor ? double(options.pingInterval) : idle / 4;
        co_await delay(pause);
        dropUnwanted();
        if (!isGreeted_ && now() - begin > options.greetingTimeout)
            throw connection_timed_out();
        if (isBlocked_ && now() - lastSent_ > idle) // the peer does not read
            throw connection_timed_out();
        if (isPaused_)
            lastHeard_ = now();
        if (!wasPending)
            asked = now();
        double silence = now() - lastHeard_;
        bool isDead = pending_.isEmpty() ? side_ == Side::Accepted && silence > idle
                                         : std::min(silence, now() - asked) > options.pingTimeout;
        if (isDead)
            throw connection_timed_out();
        if (isGreeted_ && silence > (pending_.isEmpty() ? idle / 2 : options.pingInterval / 2))
            send(UID(), 1, [](ObjectWriter&) {});
    }
}

// -------------------------------------------------------------------------------------------------------------------
// The end

void RpcPeer::release() {
    isOver_ = true;
    writing_.cancel();
    flushTurn_.takeBack();
    connection_ = {};
    out_ = in_ = std::string();
    sent_ = 0;
    if (held_ != 0)
        setHeld(0);
}

void RpcPeer::lost(Error error) {
    if (connection_ && error.code() != error_code_incompatible_protocol_version)
        connection_->abort();
    release();
    for (auto& [number, call] : std::exchange(calls_, {}))
        call->drop();
    ListLink waiting;
    waiting.reset();
    while (!pending_.isEmpty()) {
        ListLink* each = pending_.next;
        each->unlink();
        pushBack(waiting, *each);
    }
    while (!waiting.isEmpty()) {
        auto* each = static_cast<PendingReply*>(waiting.next);
        each->unlink();
        each->lost(error); // the waiter may wait at another peer now
    }
    node_ = nullptr;
    drained_.trigger(TaskPriority::WriteSocket);
}

void RpcPeer::shutDown() {
    if (connection_)
        connection_->close();
    release();
    for (auto& [number, call] : std::exchange(calls_, {}))
        call->forgetPeer();
    while (!pending_.isEmpty()) {
        auto* each = static_cast<PendingReply*>(pending_.next);
        each->stopWaiting();
        each->abandoned();
    }
    node_ = nullptr;
}

} // namespace flow::net
