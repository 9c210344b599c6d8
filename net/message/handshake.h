#pragma once
// The handshake of ZMTP: greeting, mechanism NULL or PLAIN, and the peer's properties.

#include "net/message/peer.h"

namespace flow::net {

/// Records the reason of the disconnect, and throws serialization_failed.
[[noreturn]] void refuse(Peer& peer, zmtp::Fault fault);

/// Does the handshake on peer.connection; sets the peer's id, version and cipher. Refuses the peer, or throws the
/// errors of reading and writing.
Future<Void> shakeHands(Peer& peer, SocketType type, MessageOptions const& options);

/// Shared by the steps of all mechanisms.
struct Handshake {
    Peer& peer;
    SocketType type;
    MessageOptions const& options;

    /// Reads at least so many more bytes.
    Future<Void> fill(std::size_t bytes);
    /// Reads the data of the next command, which must have this name.
    Future<std::string> next(std::string_view expected);
    Future<Void> send(std::string_view name, std::string_view data);
    std::string metadata() const;
    void readMetadata(std::string_view data);
    /// Refuses the peer if the authenticator does.
    Future<Void> authenticate(Credentials credentials, bool isNeeded);
};

/// The name of the type on the wire: "ROUTER".
std::string_view nameOf(SocketType type);
/// True if sockets of these types may connect.
bool mayTalk(SocketType ours, std::string_view theirs);

} // namespace flow::net
