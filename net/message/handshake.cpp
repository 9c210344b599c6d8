// The handshake of a connection. shakeHands() sends our greeting, and refuses a wrong greeting of the peer as soon as a
// wrong byte arrives. Both greetings must name the same mechanism. Then commands follow: NULL sends READY from both
// sides; PLAIN sends HELLO, WELCOME, INITIATE, READY; CURVE is in curve_sodium.cpp. The server (with NULL: the side
// that has accepted the connection) asks the authenticator before it sends READY. READY and INITIATE have the sender's
// metadata: its socket type, which must match ours, and its routing id.
//
// Errors are thrown. refuse() also stores the reason in the peer.

#include "net/message/detail/handshake.h"

#include "flow/coro/coroutine.h"
#include "net/message/curve.h"

#include <algorithm>
#include <array>

namespace flow::net {
namespace {

using zmtp::Fault;

constexpr std::array<std::string_view, 11> kNames = {"PAIR",   "PUB",  "SUB",  "REQ",  "REP", "DEALER",
                                                     "ROUTER", "PULL", "PUSH", "XPUB", "XSUB"};

} // namespace

Future<Void> Handshake::fill(std::size_t bytes) {
    while (peer.input.size() < bytes) {
        switch (peer.input.read(*peer.connection)) {
        case Input::Read::Some:
            break;
        case Input::Read::Nothing:
            co_await peer.connection->readable();
            break;
        case Input::Read::End:
            throw peer.connection->failure();
        }
    }
}

Future<std::string> Handshake::next(std::string_view expected) {
    for (;;) {
        zmtp::Frame frame;
        std::string_view bytes = peer.input.view();
        if (!bytes.empty() && !zmtp::isCommand(bytes[0]))
            refuse(peer, Fault::BadCommand); // before the body arrives, which may be as large as a message
        zmtp::Parsed parsed = zmtp::parseFrame(bytes, options.limits, frame);
        if (parsed.fault != Fault::None)
            refuse(peer, parsed.fault);
        if (parsed.used == 0) {
            co_await fill(peer.input.size() + 1);
            continue;
        }
        zmtp::Command command;
        if (!zmtp::parseCommand(frame.body, command))
            refuse(peer, Fault::BadCommand);
        if (command.name == "ERROR")
            refuse(peer, Fault::RefusedByPeer);
        if (command.name != expected)
            refuse(peer, Fault::UnexpectedCommand);
        std::string data(command.data);
        peer.input.consume(parsed.used);
        co_return data;
    }
}

Future<Void> Handshake::send(std::string_view name, std::string_view data) {
    std::string out;
    zmtp::appendCommand(out, name, data);
    return peer.connection->write(StringRef(out));
}

std::string Handshake::metadata() const {
    std::string data;
    zmtp::appendProperty(data, "Socket-Type", nameOf(type));
    if (type == SocketType::Req || type == SocketType::Dealer || type == SocketType::Router)
        zmtp::appendProperty(data, "Identity", options.routingId);
    return data;
}

void Handshake::readMetadata(std::string_view data) {
    bool hasType = false;
    while (!data.empty()) {
        std::string_view name, value;
        if (!zmtp::takeProperty(data, name, value))
            refuse(peer, Fault::BadMetadata);
        if (zmtp::sameName(name, "Socket-Type")) {
            if (!mayTalk(type, value))
                refuse(peer, Fault::BadSocketType);
            hasType = true;
        } else if (zmtp::sameName(name, "Identity")) {
            if (value.size() > 255)
                refuse(peer, Fault::IdentityTooLong);
            peer.id = value;
        }
    }
    if (!hasType)
        refuse(peer, Fault::BadSocketType);
}

Future<Void> Handshake::authenticate(Credentials credentials, bool isNeeded) {
    if (!options.authenticator) {
        if (isNeeded)
            refuse(peer, Fault::BadCredentials);
        co_return;
    }
    credentials.address = peer.connection->peerAddress().toString();
    bool mayEnter = false;
    try {
        mayEnter = co_await options.authenticator(std::move(credentials));
    } catch (...) { // also an exception of another library, such as a database client
        if (currentError() == actor_cancelled())
            throw;
    }
    if (!mayEnter)
        refuse(peer, Fault::BadCredentials);
}

namespace {

/// Removes a text from the front of `data`: its length in one byte, then its bytes.
std::string_view takeShort(Peer& peer, std::string_view& data) {
    std::size_t size = data.empty() ? 1 : static_cast<unsigned char>(data[0]);
    if (data.size() < 1 + size)
        refuse(peer, Fault::BadCommand);
    std::string_view text = data.substr(1, size);
    data.remove_prefix(1 + size);
    return text;
}
void appendShort(std::string& out, std::string_view text) {
    out.push_back(static_cast<char>(text.size()));
    out.append(text);
}

Future<Void> plainServer(Handshake shake) {
    std::string hello = co_await shake.next("HELLO");
    std::string_view rest = hello;
    Credentials credentials;
    credentials.mechanism = "PLAIN";
    credentials.user = takeShort(shake.peer, rest);
    credentials.password = takeShort(shake.peer, rest);
    if (!rest.empty())
        refuse(shake.peer, Fault::BadCommand);
    co_await shake.authenticate(std::move(credentials), true);
    co_await shake.send("WELCOME", "");
    std::string initiate = co_await shake.next("INITIATE");
    shake.readMetadata(initiate);
    std::string ready = shake.metadata();
    co_await shake.send("READY", ready);
}

Future<Void> plainClient(Handshake shake) {
    std::string hello;
    appendShort(hello, shake.options.plainUsername);
    appendShort(hello, shake.options.plainPassword);
    co_await shake.send("HELLO", hello);
    (void)co_await shake.next("WELCOME");
    std::string initiate = shake.metadata();
    co_await shake.send("INITIATE", initiate);
    std::string ready = co_await shake.next("READY");
    shake.readMetadata(ready);
}

Future<Void> nullBoth(Handshake shake) {
    Credentials credentials;
    credentials.mechanism = "NULL";
    if (shake.peer.isAccepted) // before our READY, so that a refused peer never counts as connected
        co_await shake.authenticate(std::move(credentials), false);
    std::string ours = shake.metadata();
    co_await shake.send("READY", ours);
    std::string theirs = co_await shake.next("READY");
    shake.readMetadata(theirs);
}

} // namespace

void refuse(Peer& peer, Fault fault) {
    peer.fault = fault;
    throw serialization_failed();
}

std::string_view nameOf(SocketType type) {
    return kNames[static_cast<std::size_t>(type)];
}

bool mayTalk(SocketType ours, std::string_view theirs) {
    auto isOneOf = [theirs](std::initializer_list<std::string_view> names) {
        return std::find(names.begin(), names.end(), theirs) != names.end();
    };
    switch (ours) {
    case SocketType::Pair:
        return isOneOf({"PAIR"});
    case SocketType::Pub:
    case SocketType::XPub:
        return isOneOf({"SUB", "XSUB"});
    case SocketType::Sub:
    case SocketType::XSub:
        return isOneOf({"PUB", "XPUB"});
    case SocketType::Req:
        return isOneOf({"REP", "ROUTER"});
    case SocketType::Rep:
        return isOneOf({"REQ", "DEALER"});
    case SocketType::Dealer:
        return isOneOf({"REP", "DEALER", "ROUTER"});
    case SocketType::Router:
        return isOneOf({"REQ", "DEALER", "ROUTER"});
    case SocketType::Pull:
        return isOneOf({"PUSH"});
    case SocketType::Push:
        return isOneOf({"PULL"});
    }
    return false;
}

Future<Void> shakeHands(Peer& peer, SocketType type, MessageOptions const& options) {
    Handshake shake{peer, type, options};
    bool isCurve = options.curveServer || !options.curveServerKey.empty();
    bool isPlain = options.plainServer || !options.plainUsername.empty();
    bool asServer = options.curveServer || options.plainServer;
    std::string_view mechanism = isCurve ? "CURVE" : isPlain ? "PLAIN" : "NULL";
    std::string out;
    zmtp::appendGreeting(out, mechanism, asServer);
    co_await peer.connection->write(StringRef(out));
    zmtp::Greeting greeting;
    for (;;) {
        zmtp::Parsed parsed = zmtp::parseGreeting(peer.input.view(), greeting);
        if (parsed.fault != Fault::None)
            refuse(peer, parsed.fault);
        if (parsed.used != 0)
            break;
        co_await shake.fill(peer.input.size() + 1); // one byte, to refuse a wrong byte early
    }
    // A greeting without asServer is accepted: libzmq's servers do not set this flag.
    if (greeting.mechanism != mechanism || (greeting.asServer && asServer))
        refuse(peer, Fault::MechanismMismatch);
    peer.minorVersion = greeting.major > 3 ? 1 : greeting.minor;
    peer.input.consume(zmtp::kGreetingBytes);
    // A variable: gcc 12 destroys the operands of a ?: in a co_await twice.
    Future<Void> rest = isCurve   ? (asServer ? curveServer(shake) : curveClient(shake))
                        : isPlain ? (asServer ? plainServer(shake) : plainClient(shake))
                                  : nullBoth(shake);
    co_await rest;
}

} // namespace flow::net
