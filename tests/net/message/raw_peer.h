#pragma once
// A peer of a message socket that sends whatever bytes a test has.
//
//     Reference<Connection> peer = co_await connectRaw(socket.bind(kAnywhere), "DEALER", "ann");
//     co_await sendRaw(peer, "hello");

#include "flow/coro/coroutine.h"
#include "net/message/detail/zmtp.h"
#include "net/transport.h"

#include <string>
#include <string_view>

namespace flow::net {

/// Sends the peer's side of the handshake; without a type only the greeting.
inline Future<Void> greetRaw(Reference<Connection> peer, std::string type, std::string id = {}) {
    std::string hello, data;
    zmtp::appendGreeting(hello, "NULL", false);
    if (!type.empty()) {
        zmtp::appendProperty(data, "Socket-Type", type);
        zmtp::appendProperty(data, "Identity", id);
        zmtp::appendCommand(hello, "READY", data);
    }
    co_await peer->write(StringRef(hello));
}

inline Future<Reference<Connection>> connectRaw(std::string endpoint, std::string type, std::string id = {}) {
    Address address = *Address::parse(endpoint.substr(6));
    Reference<Connection> made = co_await transport().connect(address);
    co_await greetRaw(made, std::move(type), std::move(id));
    co_return made;
}

/// Takes a connection, and does the handshake to its end.
inline Future<Reference<Connection>> acceptRaw(Reference<Listener> listener, std::string type, std::string id = {}) {
    Reference<Connection> made = co_await listener->accept();
    co_await greetRaw(made, std::move(type), std::move(id));
    (void)co_await made->readExactly(zmtp::kGreetingBytes);
    Bytes header = co_await made->readExactly(2);
    (void)co_await made->readExactly(header[1]);
    co_return made;
}

/// Sends a message of these parts.
inline Future<Void> sendRaw(Reference<Connection> peer, std::string first) {
    std::string frame;
    zmtp::appendFrame(frame, first, {});
    co_await peer->write(StringRef(frame));
}
inline Future<Void> sendRaw(Reference<Connection> peer, std::string first, std::string second) {
    std::string frames;
    zmtp::appendFrame(frames, first, {.more = true});
    zmtp::appendFrame(frames, second, {});
    co_await peer->write(StringRef(frames));
}

/// The body of the next short frame, of a command as well.
inline Future<std::string> readRaw(Reference<Connection> peer) {
    Bytes header = co_await peer->readExactly(2);
    Bytes body = co_await peer->readExactly(header[1]);
    co_return body.toString();
}

inline std::string ping(int tenths) {
    std::string ttl, frame;
    zmtp::appendBigEndian(ttl, static_cast<std::uint64_t>(tenths), 2);
    zmtp::appendCommand(frame, "PING", ttl + "0123456789abcdef");
    return frame;
}

} // namespace flow::net
