#include "net/message/handshake.h"

#include "flow/coro/coroutine.h"

#include <algorithm>
#include <array>

namespace flow::net {
namespace {

using zmtp::Fault;

constexpr std::array<std::string_view, 11> kNames = {"PAIR",   "PUB",  "SUB",  "REQ",  "REP", "DEALER",
                                                     "ROUTER", "PULL", "PUSH", "XPUB", "XSUB"};

Bytes bytesOf(std::string_view text) {
    return StringRef(reinterpret_cast<std::uint8_t const*>(text.data()), static_cast<int>(text.size()));
}

std::string metadata(SocketType type, MessageOptions const& options) {
    std::string data;
    zmtp::appendProperty(data, "Socket-Type", nameOf(type));
    if (type == SocketType::Req || type == SocketType::Dealer || type == SocketType::Router)
        zmtp::appendProperty(data, "Identity", options.routingId);
    return data;
}

void readMetadata(std::string_view data, Peer& peer, SocketType type) {
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

/// The data of the command that must come next.
Future<std::string> nextCommand(Peer& peer, Input& input, zmtp::Limits const& limits, std::string_view expected) {
    for (;;) {
        zmtp::Frame frame;
        zmtp::Parsed parsed = zmtp::parseFrame(input.view(), limits, frame);
        if (parsed.fault != Fault::None)
            refuse(peer, parsed.fault);
        if (parsed.used == 0) {
            co_await input.fill(parsed.need);
            continue;
        }
        zmtp::Command command;
        if (!frame.command || !zmtp::parseCommand(frame.body, command))
            refuse(peer, Fault::BadCommand);
        if (command.name == "ERROR")
            refuse(peer, Fault::RefusedByPeer);
        if (command.name != expected)
            refuse(peer, Fault::UnexpectedCommand);
        std::string data(command.data);
        input.consume(parsed.used);
        co_return data;
    }
}

Future<Void> sendCommand(Peer& peer, std::string_view name, std::string_view data) {
    std::string out;
    zmtp::appendCommand(out, name, data);
    return peer.connection->write(bytesOf(out));
}

/// Takes a text behind its length in one byte.
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

Future<Void> plainServer(Peer& peer, Input& input, SocketType type, MessageOptions const& options) {
    std::string hello = co_await nextCommand(peer, input, options.limits, "HELLO");
    std::string_view rest = hello;
    std::string_view user = takeShort(peer, rest);
    std::string_view password = takeShort(peer, rest);
    if (!rest.empty())
        refuse(peer, Fault::BadCommand);
    if (!options.plainServer(user, password))
        refuse(peer, Fault::BadCredentials);
    co_await sendCommand(peer, "WELCOME", "");
    std::string initiate = co_await nextCommand(peer, input, options.limits, "INITIATE");
    readMetadata(initiate, peer, type);
    co_await sendCommand(peer, "READY", metadata(type, options));
}

Future<Void> plainClient(Peer& peer, Input& input, SocketType type, MessageOptions const& options) {
    std::string hello;
    appendShort(hello, options.plainUser);
    appendShort(hello, options.plainPassword);
    co_await sendCommand(peer, "HELLO", hello);
    (void)co_await nextCommand(peer, input, options.limits, "WELCOME");
    co_await sendCommand(peer, "INITIATE", metadata(type, options));
    std::string ready = co_await nextCommand(peer, input, options.limits, "READY");
    readMetadata(ready, peer, type);
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

Future<Void> shakeHands(Peer& peer, Input& input, SocketType type, MessageOptions const& options) {
    bool asServer = static_cast<bool>(options.plainServer);
    bool isPlain = asServer || !options.plainUser.empty();
    std::string_view mechanism = isPlain ? "PLAIN" : "NULL";
    std::string out;
    zmtp::appendGreeting(out, mechanism, asServer);
    co_await peer.connection->write(bytesOf(out));
    zmtp::Greeting greeting;
    for (;;) {
        zmtp::Parsed parsed = zmtp::parseGreeting(input.view(), greeting);
        if (parsed.fault != Fault::None)
            refuse(peer, parsed.fault);
        if (parsed.used != 0)
            break;
        co_await input.fill(std::min(parsed.need, input.view().size() + 1)); // a wrong byte is refused at once
    }
    if (greeting.mechanism != mechanism || (isPlain && greeting.asServer == asServer))
        refuse(peer, Fault::MechanismMismatch);
    peer.minorVersion = greeting.major > 3 ? 1 : greeting.minor;
    input.consume(zmtp::kGreetingBytes);
    if (isPlain) {
        co_await (asServer ? plainServer(peer, input, type, options) : plainClient(peer, input, type, options));
        co_return;
    }
    co_await sendCommand(peer, "READY", metadata(type, options));
    std::string ready = co_await nextCommand(peer, input, options.limits, "READY");
    readMetadata(ready, peer, type);
}

} // namespace flow::net
