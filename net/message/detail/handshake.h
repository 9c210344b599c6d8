#pragma once
// The handshake of ZMTP: greeting, mechanism and properties.

#include "net/message/detail/peer.h"

namespace flow::net {

/// Stores the reason of the disconnect, and throws serialization_failed.
[[noreturn]] void refuse(Peer& peer, zmtp::Fault fault);

/// Does the handshake on peer.connection, and sets the peer's id, version and cipher. Fails with the errors of refuse()
/// and of the connection.
Future<Void> shakeHands(Peer& peer, SocketType type, MessageOptions const& options);

/// Functions for all mechanisms.
struct Handshake {
    Peer& peer;
    SocketType type;
    MessageOptions const& options;

    Future<Void> fill(std::size_t bytes);
    /// Reads the command `expected`, and returns its data.
    Future<std::string> next(std::string_view expected);
    Future<Void> send(std::string_view name, std::string_view data);
    std::string metadata() const;
    void readMetadata(std::string_view data);
    /// Refuses the peer if the authenticator refuses it, or if `isNeeded` is true and there is no authenticator.
    Future<Void> authenticate(Credentials credentials, bool isNeeded);
};

/// Returns the type's name on the wire, such as "ROUTER".
std::string_view nameOf(SocketType type);
bool mayTalk(SocketType ours, std::string_view theirs);

} // namespace flow::net
