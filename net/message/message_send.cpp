// Sending at a MessageSocket.
//
// couldSend() returns true if a message can be sent now: its peer has room (hasRoom()), and no other sender waits. A
// ROUTER has a list of waiting senders for each routing id; the other types have one list (senders_). sendNow() chooses
// the peer (a PUB: all peers) and appends the frames to the peer's output or queue. flushDirty() makes the system call
// at the end of the turn, for all messages together. The fast path of State::send() appends to lastPeer_ without these
// checks. Each change of peers and each parked sender resets lastPeer_.

#include "net/message/detail/message_state.h"

namespace flow::net {

constexpr std::string_view kDelimiter{"\1\0", 2}; // an empty part with the "more" flag

void MessageSocket::State::sendTopic(Peer& peer, std::string_view topic, bool isNew) {
    if (peer.twin) {
        peer.twin->state->subscriptionCame(*peer.twin, topic, isNew);
    } else if (peer.minorVersion >= 1) {
        command(peer, isNew ? "SUBSCRIBE" : "CANCEL", topic);
    } else {
        std::string frame;
        if (peer.cipher)
            peer.cipher->close(frame, std::string(1, isNew ? '\1' : '\0').append(topic), {});
        else
            zmtp::appendFrame(frame, std::string(1, isNew ? '\1' : '\0').append(topic), {});
        peer.output.appendUncounted(frame);
        makeDirty(peer);
    }
}

void MessageSocket::State::command(Peer& peer, std::string_view name, std::string_view data) {
    if (!peer.connection)
        return;
    std::string frame, body = zmtp::commandBody(name, data);
    if (peer.cipher)
        peer.cipher->close(frame, body, {.command = true});
    else
        zmtp::appendFrame(frame, body, {.command = true});
    peer.output.appendUncounted(frame);
    if (!peer.isDirty)
        makeDirty(peer);
}

void MessageSocket::State::subscribe(std::string_view topic, bool isNew) {
    if (!subscribes(type_))
        throw client_invalid_operation().withSentence("MessageSocket: only a SUB or XSUB subscribes");
    auto place = subscriptions_.find(topic);
    bool isThere = place != subscriptions_.end();
    if (isNew ? isThere : isThere && place->second > 1) {
        place->second += isNew ? 1 : -1;
        return;
    }
    if (isNew) {
        subscriptions_.emplace(topic, 1);
        topics_.add(topic);
    } else if (isThere) {
        subscriptions_.erase(place);
        topics_.remove(topic);
    } else {
        return;
    }
    for (Reference<Peer> const& peer : peers_)
        if (peer->isOpen())
            sendTopic(*peer, topic, isNew);
}

bool MessageSocket::State::hasRoom(Peer& peer) {
    if (!peer.isOpen() && (options_.immediate || peer.isAccepted))
        return false;
    if (peer.twin)
        return peer.twin->inbox.size() < sndMessages_ && peer.twin->inboxBytes < sndBytes_;
    if (options_.conflate)
        return true;
    if ((isQueued_ || peer.isInproc) &&
        (peer.waiting() >= sndMessages_ || peer.queueBytes + peer.output.bytes() >= sndBytes_))
        return false;
    if (hasRoomNow(peer))
        return true;
    if (peer.isOpen() && !peer.isBlocked)
        flush(peer);
    return hasRoomNow(peer);
}

Peer* MessageSocket::State::nextPeer(bool advance) {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        std::size_t index = (turn_ + i) % peers_.size();
        if (hasRoom(*peers_[index])) {
            if (advance)
                turn_ = index + 1;
            return peers_[index].getPtr();
        }
    }
    return nullptr;
}

Peer* MessageSocket::State::peerNamed(std::string_view id) {
    auto found = byId_.find(id);
    Peer* peer = found == byId_.end() ? nullptr : found->second->peer;
    return peer && peer->isOpen() ? peer : nullptr;
}

Peer* MessageSocket::State::peerOf(Message const& message) {
    Route* route = message.route().getPtr();
    if (route && route->peer && route->peer->isOpen() && route->peer->state == this)
        return route->peer;
    return peerNamed(message.routingId());
}

void MessageSocket::State::setLastPeer(Peer* peer) {
    bool isOnly = peers_.size() == 1 && oneOf(type_, {SocketType::Dealer, SocketType::Push, SocketType::Pair});
    bool isDirect = peer && peer->isOpen() && !peer->twin && !isQueued_ && (isOnly || type_ == SocketType::Router) &&
                    !(peer->name ? peer->name->senders : senders_).isWaitedFor();
    lastPeer_ = isDirect ? Reference<Peer>::addRef(peer) : Reference<Peer>();
    lastName_ = isDirect && type_ == SocketType::Router ? peer->id : std::string();
}

void MessageSocket::State::checkMaySend(Message const& message) const {
    char const* why = !canSend(type_)                            ? "MessageSocket: a SUB or PULL cannot send messages"
                      : type_ == SocketType::Req && awaitsReply_ ? "MessageSocket: the REQ must receive its reply first"
                      : type_ == SocketType::Rep && !awaitsReply_ ? "MessageSocket: the REP has no request to reply to"
                      : message.isEmpty()                         ? "MessageSocket: the message has no parts"
                                                                  : nullptr;
    if (why)
        throw client_invalid_operation().withSentence(why);
}

bool MessageSocket::State::couldSend(Message const& message) {
    switch (type_) {
    case SocketType::Router: {
        Peer* peer = peerOf(message);
        return !peer || hasRoom(*peer);
    }
    case SocketType::Req:
        return awaitsReply_ || message.isEmpty() || nextPeer(false);
    case SocketType::Dealer:
    case SocketType::Push:
    case SocketType::Pair:
        return message.isEmpty() || nextPeer(false);
    default:
        return true; // send() never waits: it sends, drops or fails
    }
}

Peer* MessageSocket::State::receiverOf(Send const& operation) {
    if (!operation.body)
        return peerOf(*static_cast<Message const*>(operation.what));
    return peerNamed({static_cast<char const*>(operation.what), operation.idBytes});
}

bool MessageSocket::State::couldSendSlow(Send const& operation) {
    if (type_ == SocketType::Router) {
        Peer* peer = receiverOf(operation);
        return !peer || (peer->name->senders.isNext(operation) && hasRoom(*peer));
    }
    if (!senders_.isNext(operation))
        return false;
    if (!operation.body)
        return couldSend(*static_cast<Message const*>(operation.what));
    return !oneOf(type_, {SocketType::Req, SocketType::Dealer, SocketType::Push, SocketType::Pair}) ||
           (type_ == SocketType::Req && awaitsReply_) || nextPeer(false);
}

void MessageSocket::State::sendSlow(Send const& operation) {
    if (!operation.body) {
        sendNow(*const_cast<Message*>(static_cast<Message const*>(operation.what)));
        return;
    }
    std::string_view id(static_cast<char const*>(operation.what), operation.idBytes);
    Message message = type_ == SocketType::Router ? Message::to(id) : Message();
    message.add({operation.body, operation.bodyBytes});
    sendNow(message);
    setLastPeer(type_ == SocketType::Router ? peerNamed(id) : peers_.empty() ? nullptr : peers_[0].getPtr());
}

void MessageSocket::State::parkSender(WaiterNode& waiter, Send& operation) {
    setLastPeer(nullptr); // later senders wait behind this one
    Peer* peer = type_ == SocketType::Router ? receiverOf(operation) : nullptr;
    (peer ? peer->name->senders : senders_).park(waiter, operation);
}

void MessageSocket::State::sendTo(Peer& peer, std::string_view frames, std::size_t parts, Message const& message) {
    if (peer.twin && !canReceive(peer.twin->state->type_)) {
        ++peer.twin->state->counters_.discarded;
        return;
    }
    if (peer.twin) {
        Message sent = frames.empty() ? message : Message::join(frames, parts, message);
        sent.setRoute({});
        peer.twin->putInbox(std::move(sent));
        return peer.twin->state->inputCame(*peer.twin);
    }
    if (!isQueued_ && !peer.isInproc) {
        peer.output.append(frames, message);
        return appended(peer);
    }
    if (options_.conflate) {
        counters_.dropped += peer.queue.size();
        peer.queue.clear();
        peer.queueBytes = 0;
    }
    peer.queue.push_back(frames.empty() ? message : Message::join(frames, parts, message));
    peer.queueBytes += peer.queue.back().wire().size();
    if (!peer.isDirty)
        makeDirty(peer);
}

void MessageSocket::State::publish(Message const& message) {
    std::string_view topic = message[0];
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        Peer& peer = *peers_[i];
        if (!peer.isOpen() || (publishes(type_) && !peer.topics.matches(topic)))
            continue;
        if (hasRoom(peer))
            sendTo(peer, {}, 0, message);
        else
            ++counters_.dropped;
    }
}

bool MessageSocket::State::trySend(Message& message) {
    checkMaySend(message);
    Send operation{this, &message, nullptr, 0, 0};
    if (!couldSend(operation))
        return false;
    sendNow(message);
    return true;
}

void MessageSocket::State::sendNow(Message& message) {
    checkMaySend(message);
    switch (type_) {
    case SocketType::Pub:
    case SocketType::XPub:
        publish(message);
        break;
    case SocketType::XSub: {
        std::string_view first = message[0];
        if (message.parts() == 1 && !first.empty() && static_cast<unsigned char>(first[0]) <= 1)
            subscribe(first.substr(1), first[0] == 1);
        else
            publish(message);
        break;
    }
    case SocketType::Router:
        if (Peer* peer = peerOf(message)) {
            sendTo(*peer, {}, 0, message);
        } else {
            if (options_.routerMandatory)
                throw host_unreachable();
            ++counters_.dropped;
        }
        break;
    case SocketType::Rep: {
        Message envelope = std::exchange(envelope_, {});
        awaitsReply_ = false;
        Reference<Peer> peer = std::exchange(partner_, {});
        if (peer->isOpen() && hasRoom(*peer))
            sendTo(*peer, envelope.wire(), envelope.parts(), message);
        else
            ++counters_.dropped;
        break;
    }
    case SocketType::Req:
        partner_ = Reference<Peer>::addRef(nextPeer(true));
        discardReplies(*partner_);
        awaitsReply_ = true;
        sendTo(*partner_, kDelimiter, 1, message);
        break;
    default:
        sendTo(*nextPeer(true), {}, 0, message);
    }
    ++counters_.sent;
    message = Message();
}

// -------------------------------------------------------------------------------------------------------------------
// System calls

void MessageSocket::State::makeDirty(Peer& peer) {
    peer.isDirty = true;
    dirty_.push_back(Reference<Peer>::addRef(&peer));
    flushTurn_.ask(TaskPriority::WriteSocket);
}

void MessageSocket::State::flushDirty() {
    for (std::size_t i = 0; i < dirty_.size(); ++i) {
        Peer& peer = *dirty_[i];
        peer.isDirty = false;
        if (!peer.isBlocked)
            flush(peer);
    }
    dirty_.clear();
}

/// Moves messages from the queue to the output. Returns false if none was moved.
bool MessageSocket::State::fillOutput(Peer& peer) {
    bool isSome = false;
    while (!peer.queue.empty() &&
           (options_.conflate ? peer.output.messages() == 0 : peer.output.bytes() < Output::kBatch)) {
        Message message = std::move(peer.queue.front());
        peer.queue.pop_front();
        peer.queueBytes -= message.wire().size();
        isSome = true;
        if (!peer.cipher) {
            peer.output.append({}, message);
            continue;
        }
        std::string frames;
        std::size_t left = message.parts();
        for (std::string_view part : message)
            peer.cipher->close(frames, part, {.more = --left != 0});
        peer.output.appendCounted(frames);
    }
    return isSome;
}

void MessageSocket::State::flush(Peer& peer) {
    if (!peer.connection || !peer.isOpen())
        return;
    bool isAll;
    do {
        if (isQueued_)
            fillOutput(peer);
        isAll = peer.output.flush(*peer.connection);
    } while (isAll && !peer.queue.empty());
    if (!isAll) {
        if (peer.connection->failure().isValid() && peer.connection->failure().code() != error_code_end_of_stream)
            return peer.end(zmtp::Fault::None);
        peer.isBlocked = true;
        call(peer.connection->writable(), peer.writing, [p = &peer](Error error) {
            p->isBlocked = false;
            error.isValid() ? p->end(zmtp::Fault::None) : p->state->flush(*p);
        });
    }
    outputDrained(peer);
}

void MessageSocket::State::outputDrained(Peer& peer) {
    if (!hasRoomNow(peer))
        return;
    if (peer.name)
        peer.name->senders.wakeInTurn(TaskPriority::WriteSocket);
    senders_.wakeInTurn(TaskPriority::WriteSocket);
}

} // namespace flow::net
