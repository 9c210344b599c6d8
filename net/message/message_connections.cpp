// The connections of a MessageSocket: made, shaken hands on, read from, written to, and made again.

#include "flow/base/random.h"
#include "flow/coro/race.h"
#include "flow/wait/delay.h"
#include "net/message/endpoint.h"
#include "net/message/message_state.h"

namespace flow::net {

using zmtp::Fault;

std::string MessageSocket::State::bind(std::string_view endpoint) {
    Reference<Listener> listener = transport().listen(parseEndpoint(endpoint, EndpointUse::Bind));
    listeners_.push_back(listener);
    running_.add(accept(listener));
    return endpointText(listener->localAddress());
}

void MessageSocket::State::connect(std::string_view endpoint) {
    running_.add(keepConnected(parseEndpoint(endpoint, EndpointUse::Connect)));
}

Future<Void> MessageSocket::State::accept(Reference<Listener> listener) {
    for (;;) {
        auto peer = makeReference<Peer>();
        peer->connection = co_await listener->accept();
        peer->isAccepted = true;
        peers_.push_back(peer);
        running_.add(serve(peer));
    }
}

Future<Void> MessageSocket::State::serve(Reference<Peer> peer) {
    co_await run(peer);
    std::erase(peers_, peer);
}

Future<Void> MessageSocket::State::keepConnected(Address to) {
    auto peer = makeReference<Peer>();
    peers_.push_back(peer);
    double pause = options_.reconnectInterval;
    for (;;) {
        ErrorOr<Reference<Connection>> connected = co_await tryGet(transport().connect(to));
        if (connected.isError(error_code_actor_cancelled))
            throw connected.getError();
        if (!connected.isError()) {
            std::uint64_t before = counters.connected;
            peer->connection = connected.get();
            co_await run(peer);
            if (counters.connected != before)
                pause = options_.reconnectInterval;
        }
        co_await delay(pause * (0.5 + deterministicRandom()->random01()));
        pause = std::min(pause * 2, options_.reconnectIntervalMax);
    }
}

/// From the handshake to the end of the connection; throws nothing but a cancel.
Future<Void> MessageSocket::State::run(Reference<Peer> peer) {
    Input input(peer->connection);
    peer->fault = Fault::None;
    Error error;
    try {
        co_await shakeHandsInTime(peer, input);
        open(*peer);
        (void)co_await race(read(peer, input), write(peer), beat(peer));
    } catch (Error& caught) {
        error = caught;
    }
    if (peer->fault != Fault::None) {
        ++counters.refused;
        counters.lastFault = peer->fault;
        if (!peer->isShaken && peer->fault != Fault::RefusedByPeer) {
            std::string reason(zmtp::nameOf(peer->fault)), out;
            reason.insert(reason.begin(), static_cast<char>(reason.size()));
            zmtp::appendCommand(out, "ERROR", reason);
            (void)peer->connection->write(bytesOf(out));
        }
    }
    forget(*peer);
    if (error.code() == error_code_actor_cancelled)
        throw error;
}

Future<Void> MessageSocket::State::shakeHandsInTime(Reference<Peer> peer, Input& input) {
    auto first = co_await race(shakeHands(*peer, input, type_, options_), delay(options_.handshakeTimeout));
    if (first.index() == 1)
        refuse(*peer, Fault::HandshakeTimedOut);
}

/// The peer may be used from here on.
void MessageSocket::State::open(Peer& peer) {
    if (type_ == SocketType::Router) {
        if (peer.id.empty()) {
            std::uint32_t number = ++lastId_;
            peer.id.assign(1, '\0'); // such ids are ours
            zmtp::appendBigEndian(peer.id, number, 4);
        }
        Peer*& known = byId_[peer.id];
        if (known && known != &peer) {
            if (!options_.routerHandover)
                refuse(peer, Fault::IdentityInUse);
            known->connection->abort();
        }
        known = &peer;
    }
    peer.isShaken = true;
    peer.lastHeard = now();
    ++counters.connected;
    if (subscribes(type_))
        for (auto const& [topic, count] : subscriptions_)
            tellTopic(peer, topic, true);
    senders_.wakeInTurn();
}

void MessageSocket::State::forget(Peer& peer) {
    if (peer.isShaken)
        ++counters.disconnected;
    auto known = byId_.find(peer.id);
    if (known != byId_.end() && known->second == &peer)
        byId_.erase(known);
    peer.connection->close();
    peer.connection = {};
    peer.isShaken = peer.isWriting = false;
    peer.commands.clear();
    peer.topics = TopicSet();
    if (peer.isAccepted || type_ == SocketType::Router || publishes(type_)) {
        counters.dropped += peer.out.size();
        peer.out.clear();
    }
    if (type_ == SocketType::Req && partner_.getPtr() == &peer) {
        awaitsReply_ = false; // the reply will not come: another request may be sent
        partner_ = {};
        receivers_.wakeInTurn(TaskPriority::ReadSocket);
    }
    senders_.wakeInTurn();
}

Future<Void> MessageSocket::State::read(Reference<Peer> peer, Input& input) {
    Message message;
    std::size_t bytes = 0;
    for (;;) {
        if (isFull())
            co_await RoomToReceive{this};
        zmtp::Frame frame;
        zmtp::Parsed parsed =
            zmtp::parseFrame(input.view(), options_.limits, options_.limits.messageBytes - bytes, frame);
        if (parsed.fault != Fault::None)
            refuse(*peer, parsed.fault);
        if (parsed.used == 0) {
            co_await input.fill(parsed.need);
            peer->lastHeard = now();
            continue;
        }
        if (frame.command) {
            handleCommand(*peer, frame);
            input.consume(parsed.used);
            continue;
        }
        if (message.size() == options_.limits.parts)
            refuse(*peer, Fault::TooManyParts);
        message.push_back(input.own(frame.body));
        bytes += frame.body.size();
        input.consume(parsed.used);
        if (!frame.more) {
            deliver(peer, std::exchange(message, {}));
            bytes = 0;
        }
    }
}

void MessageSocket::State::handleCommand(Peer& peer, zmtp::Frame const& frame) {
    zmtp::Command command;
    if (!zmtp::parseCommand(frame.body, command))
        refuse(peer, Fault::BadCommand);
    if (command.name == "PING") {
        if (command.data.size() < 2 || command.data.size() > 18)
            refuse(peer, Fault::BadCommand);
        peer.command("PONG", command.data.substr(2));
    } else if (command.name == "SUBSCRIBE" || command.name == "CANCEL") {
        subscriptionCame(Reference<Peer>::addRef(&peer), command.data, command.name == "SUBSCRIBE");
    } else if (command.name == "ERROR") {
        refuse(peer, Fault::RefusedByPeer);
    } else if (command.name != "PONG") {
        refuse(peer, Fault::UnexpectedCommand);
    }
}

Future<Void> MessageSocket::State::write(Reference<Peer> peer) {
    constexpr std::size_t kBatch = 64 << 10, kLarge = 16 << 10;
    for (;;) {
        co_await Peer::HasOutput{peer.getPtr()};
        std::vector<Bytes> pieces;
        std::string small = std::exchange(peer->commands, {});
        std::size_t bytes = small.size();
        auto flush = [&] {
            if (!small.empty())
                pieces.push_back(bytesOf(small));
            small.clear();
        };
        while (!peer->out.empty() && bytes < kBatch) {
            Message message = std::move(peer->out.front());
            peer->out.pop_front();
            for (std::size_t i = 0; i < message.size(); ++i) {
                std::string_view part = view(message[i]);
                zmtp::appendFrameHeader(small, part.size(), {.more = i + 1 != message.size()});
                bytes += zmtp::frameBytes(part.size());
                if (part.size() < kLarge) {
                    small.append(part);
                } else {
                    flush();
                    pieces.push_back(message[i]);
                }
            }
            ++counters.sent;
        }
        flush();
        peer->isWriting = true;
        Drain written = peer->connection->write(pieces);
        senders_.wakeInTurn();
        co_await written;
        peer->isWriting = false;
    }
}

Future<Void> MessageSocket::State::beat(Reference<Peer> peer) {
    if (options_.heartbeatInterval <= 0)
        co_await Future<Void>(Never());
    double patience = options_.heartbeatTimeout > 0 ? options_.heartbeatTimeout : options_.heartbeatInterval;
    for (;;) {
        double asked = now();
        std::string ttl;
        zmtp::appendBigEndian(ttl, static_cast<std::uint64_t>(std::min(patience * 10, 65535.0)), 2);
        peer->command("PING", ttl);
        co_await delay(std::max(options_.heartbeatInterval, patience));
        if (peer->lastHeard < asked && !isFull()) // while nobody receives, this side does not listen
            refuse(*peer, Fault::HeartbeatTimedOut);
    }
}

} // namespace flow::net
