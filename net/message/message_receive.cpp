// Receiving at a MessageSocket: receive() parses messages in place.
//
// receive() takes messages of one peer, current_. Without a message it reads from current_, but only once if other
// peers are ready: then the first peer in ready_ becomes current_. find() parses the input of a peer up to a message,
// and executes the commands before it. readOn() reads once. If there are no bytes, waitForInput() waits for the
// connection. Then inputCame() puts the peer into ready_ again. arrived_ has messages that are received before all
// inputs: subscriptions at an XPUB, and messages of ended connections.
//
// While no receive() waits, readAhead() reads up to the high-water marks, to execute commands and to notice the end of
// a connection. At the marks the peer is paused until messages are received.

#include "net/message/detail/message_state.h"

namespace flow::net {

using zmtp::Fault;

/// The most unread bytes of a peer, even without high-water marks. A slab has room for them and a message of
/// Message::kLargest bytes.
constexpr std::size_t kMostUnread = std::size_t{512} << 20;

void MessageSocket::State::handleCommand(Peer& peer, zmtp::Frame const& frame) {
    zmtp::Command command;
    if (!zmtp::parseCommand(frame.body, command))
        return peer.end(Fault::BadCommand);
    if (command.name == "PING") {
        pinged(peer, command.data);
    } else if (command.name == "SUBSCRIBE" || command.name == "CANCEL") {
        subscriptionCame(peer, command.data, command.name == "SUBSCRIBE");
    } else if (command.name == "ERROR") {
        peer.end(Fault::RefusedByPeer);
    } else if (command.name != "PONG") {
        peer.end(Fault::UnexpectedCommand);
    }
}

void MessageSocket::State::subscriptionCame(Peer& peer, std::string_view topic, bool isNew) {
    if (!publishes(type_))
        return peer.end(Fault::UnexpectedCommand);
    if (topic.size() > options_.limits.topicBytes)
        return peer.end(Fault::TopicTooLong);
    bool changes = isNew ? peer.topics.add(topic) : peer.topics.remove(topic); // false if repeated
    if (peer.topics.bytes() > options_.limits.allTopicsBytes)
        return peer.end(Fault::TooManyTopics);
    if (type_ == SocketType::XPub && changes)
        arrive(Message(std::string(1, isNew ? '\1' : '\0').append(topic)), peer);
}

/// Queues a message for receive(), before the messages in the inputs.
void MessageSocket::State::arrive(Message message, Peer& from) {
    arrivedBytes_ += message.wire().size();
    arrived_.push_back({std::move(message), Reference<Peer>::addRef(&from)});
    receivers_.wakeInTurn(TaskPriority::ReadSocket);
}

/// Takes the first message of arrived_. If the message has no parts, its peer has ended: then returns a message that
/// cancels a topic of this peer.
MessageSocket::State::Arrived MessageSocket::State::takeArrived() {
    Arrived& first = arrived_.front();
    if (first.message.isEmpty()) {
        Arrived cancel{Message(std::string(1, '\0').append(first.from->topics.removeFirst())), first.from};
        if (first.from->topics.isEmpty())
            arrived_.pop_front();
        return cancel;
    }
    Arrived next = std::move(first);
    arrived_.pop_front();
    arrivedBytes_ -= next.message.wire().size();
    return next;
}

/// Discards replies that came before a REQ sends a request: they answer older requests.
void MessageSocket::State::discardReplies(Peer& peer) {
    counters_.discarded += arrived_.size();
    arrived_.clear();
    arrivedBytes_ = 0;
    constexpr int kReads = 64; // a limit, because the peer may never stop sending
    for (int reads = 0; reads < kReads;) {
        if (peer.available() != 0) {
            discardFirst(peer);
            continue;
        }
        Found found = find(peer);
        if (found == Found::Fault || (found == Found::Nothing && !readOn(peer)))
            return;
        reads += found == Found::Nothing;
    }
}

/// Handles a message to a PUSH, PUB or XPUB: a subscription of ZMTP 3.0, or a message of an XSUB. Returns false at
/// other types.
bool MessageSocket::State::handlePublished(Peer& peer) {
    if (type_ != SocketType::Push && !publishes(type_))
        return false;
    Message message = takeFrom(peer);
    std::string_view first = message[0];
    if (publishes(type_) && message.parts() == 1 && !first.empty() && static_cast<unsigned char>(first[0]) <= 1)
        subscriptionCame(peer, first.substr(1), first[0] == 1);
    else if (type_ == SocketType::XPub)
        arrive(message.own(), peer);
    else
        ++counters_.discarded;
    return true;
}

/// Handles an encrypted frame: executes a command, or adds a part to Peer::opened.
Fault MessageSocket::State::openFrame(Peer& peer, std::string_view body) {
    zmtp::Frame frame;
    std::string plain;
    zmtp::Command command;
    if (!zmtp::parseCommand(body, command))
        return Fault::BadCommand;
    if (command.name != "MESSAGE")
        return command.name == "ERROR" ? Fault::RefusedByPeer : Fault::UnexpectedCommand;
    if (Fault fault = peer.cipher->open(command.data, plain, frame); fault != Fault::None)
        return fault;
    if (frame.command) {
        handleCommand(peer, frame);
        return Fault::None;
    }
    if (peer.opened.parts() == options_.limits.parts)
        return Fault::TooManyParts;
    if (peer.opened.wire().size() + frame.body.size() > options_.limits.messageBytes)
        return Fault::MessageTooLarge;
    peer.opened.add(frame.body);
    if (!frame.more)
        peer.putInbox(std::exchange(peer.opened, {}));
    return Fault::None;
}

/// Finds the peer's next message, and executes the commands before it.
Input::Found MessageSocket::State::find(Peer& peer) {
    for (;;) {
        Found found = peer.input.find(frameLimits_);
        if (found == Found::Nothing)
            return found;
        Fault fault = peer.input.fault();
        bool isMessage = found == Found::Message;
        if (found != Found::Fault && peer.cipher) {
            std::size_t before = peer.inbox.size();
            if (isMessage) { // some peers do not set the command flag on encrypted frames
                Message closed = peer.input.take();
                fault = closed.parts() == 1 ? openFrame(peer, closed[0]) : Fault::BadEncryption;
            } else {
                fault = openFrame(peer, peer.input.command().body);
            }
            isMessage = peer.inbox.size() != before;
        } else if (found == Found::Command) {
            handleCommand(peer, peer.input.command());
        }
        if (isMessage && !handlePublished(peer))
            return Found::Message;
        if (fault != Fault::None)
            peer.end(fault);
        if (peer.isOver())
            return Found::Fault;
    }
}

Message MessageSocket::State::takeFrom(Peer& peer) {
    if (peer.inbox.isEmpty())
        return peer.input.take();
    Message message = peer.takeInbox();
    if (peer.twin)
        peer.twin->state->outputDrained(*peer.twin);
    return message;
}

void MessageSocket::State::discardFirst(Peer& peer) {
    (void)takeFrom(peer);
    ++counters_.discarded;
}

/// True if receive() may return the first message of the peer.
bool MessageSocket::State::isWanted(Peer& peer) {
    if (type_ == SocketType::Rep) {
        Message first = peer.inbox.isEmpty() ? peer.input.first() : peer.inbox.front();
        std::size_t left = first.parts();
        for (std::string_view part : first)
            if (--left != 0 && part.empty())
                return true;
        return false;
    }
    std::string_view first = peer.inbox.isEmpty() ? peer.input.firstPart() : peer.inbox.front()[0];
    if (subscribes(type_))
        return topics_.matches(first);
    if (type_ == SocketType::Req) {
        bool hasMore = peer.inbox.isEmpty() ? peer.input.firstHasMore() : peer.inbox.front().parts() > 1;
        return awaitsReply_ && partner_.getPtr() == &peer && first.empty() && hasMore;
    }
    return true;
}

bool MessageSocket::State::isAtMark(Peer const& peer) const {
    if (options_.conflate)
        return false;
    std::size_t here = peer.available(), bytes = peer.input.size() + peer.inboxBytes;
    if (type_ == SocketType::XPub) {
        here += arrived_.size();
        bytes += arrivedBytes_;
    }
    return here != 0 && ((options_.rcvHwm != 0 && here >= options_.rcvHwm) ||
                         (options_.rcvHwmBytes != 0 && bytes >= options_.rcvHwmBytes) || bytes >= kMostUnread);
}

/// Reads once. Returns false if there were no bytes: the peer waits for input, has ended, or has no connection.
bool MessageSocket::State::readOn(Peer& peer) {
    peer.isPaused = false;
    if (!peer.connection)
        return false;
    switch (peer.input.read(*peer.connection)) {
    case Input::Read::Some:
        peer.lastHeard = now();
        return true;
    case Input::Read::Nothing:
        waitForInput(peer);
        return false;
    case Input::Read::End:
        peer.end(Fault::None);
    }
    return false;
}

void MessageSocket::State::waitForInput(Peer& peer) {
    peer.input.rest();
    if (!peer.reading.isWaiting())
        call(peer.connection->readable(), peer.reading, [p = &peer](Error) { p->state->inputCame(*p); });
}

void MessageSocket::State::inputCame(Peer& peer) {
    if (&peer != current_.getPtr())
        list(peer);
    if (receivers_.isWaitedFor())
        receivers_.wakeForNews(TaskPriority::ReadSocket); // a priority that lets timers run beside inproc:// messages
    else
        readAhead(peer);
}

void MessageSocket::State::readAhead(Peer& peer) {
    while (!peer.isOver() && !isAtMark(peer)) {
        Found found = find(peer);
        if (options_.conflate)
            while (peer.available() > 1)
                discardFirst(peer);
        if (found == Found::Fault || (found == Found::Nothing && !readOn(peer)))
            return;
    }
    if (!peer.isOver())
        pause(peer);
}

/// Reads ahead from the current peer if no receive() waits. Then ends the turn of this peer if others are ready: if it
/// sends faster than the program receives, its input is never empty, and the others would wait for ever.
void MessageSocket::State::readAheadIfIdle() {
    if (!current_ || receivers_.isWaitedFor())
        return;
    Reference<Peer> peer = current_;
    readAhead(*peer);
    if (current_ == peer && !ready_.isEmpty()) {
        current_ = {};
        list(*peer);
    }
}

void MessageSocket::State::unlist(Peer& peer) {
    if (peer.link.isLinked())
        peer.link.unlink();
    if (current_.getPtr() == &peer)
        current_ = {};
}

/// Drops messages with a topic that a SUB has cancelled. Returns true if arrived_ has a message.
bool MessageSocket::State::findArrived() {
    while (subscribes(type_) && !arrived_.empty() && !topics_.matches(arrived_.front().message[0])) {
        (void)takeArrived();
        ++counters_.discarded;
    }
    return !arrived_.empty();
}

bool MessageSocket::State::findMessage() {
    if (!mayReceive())
        return true; // take() will throw
    for (;;) {
        if (findArrived())
            return true;
        if (!current_) {
            if (ready_.isEmpty())
                return false;
            auto* place = static_cast<Peer::Place*>(ready_.next);
            place->unlink();
            current_ = Reference<Peer>::addRef(place->owner);
            hasRead_ = false;
        }
        Peer& peer = *current_;
        if (findAt(peer)) {
            idleTurn_.ask(TaskPriority::Low);
            return true;
        }
        current_ = {};
    }
}

/// True if the peer has a message for receive(). If not, it waits for input, has ended, or is in ready_.
bool MessageSocket::State::findAt(Peer& peer) {
    for (;;) {
        while (peer.available() != 0 && !options_.conflate) {
            if (isWanted(peer))
                return true;
            discardFirst(peer);
        }
        if (peer.isOver() && !options_.conflate)
            return false;
        Found found = find(peer);
        if (options_.conflate)
            while (peer.available() > 1)
                discardFirst(peer);
        if (found == Found::Message)
            continue;
        bool isRead = found == Found::Nothing && !peer.isOver();
        if (isRead && !options_.conflate && std::exchange(hasRead_, true) && !ready_.isEmpty()) {
            list(peer);
            return false;
        }
        if (isRead && readOn(peer))
            continue;
        if (!options_.conflate || peer.available() == 0)
            return false;
        if (isWanted(peer))
            return true;
        discardFirst(peer);
    }
}

Message MessageSocket::State::takeSlow() {
    if (!mayReceive() || (arrived_.empty() && !current_))
        throw client_invalid_operation().withSentence(canReceive(type_)
                                                          ? "MessageSocket: the REQ has no request under way"
                                                          : "MessageSocket: a PUB or PUSH cannot receive messages");
    Arrived next = arrived_.empty() ? Arrived{takeFrom(*current_), current_} : takeArrived();
    ++counters_.received;
    Message& message = next.message;
    if (type_ == SocketType::Router) {
        message.setRoute(next.from->route);
    } else if (type_ == SocketType::Req) {
        awaitsReply_ = false;
        partner_ = {};
        return message.behind(1);
    } else if (type_ == SocketType::Rep) {
        std::size_t parts = 1;
        for (Message::Iterator each = message.begin(); !(*each).empty(); ++each)
            ++parts;
        envelope_ = message.front(parts);
        partner_ = next.from;
        awaitsReply_ = true;
        return message.behind(parts);
    }
    return std::move(message);
}

} // namespace flow::net
