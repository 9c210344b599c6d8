#pragma once
// The handshake of ZMTP: greeting, mechanism NULL or PLAIN, and the peer's properties.

#include "net/message/detail/peer.h"

namespace flow::net {

/// Records the reason of the disconnect, and throws serialization_failed.
[[noreturn]] void refuse(Peer& peer, zmtp::Fault fault);

/// Does the handshake on peer.connection; sets the peer's id, version and cipher. Throws the errors of refuse(), of
/// reading and of writing.
Future<Void> shakeHands(Peer& peer, SocketType type, MessageOptions const& options);

/// The functions that the steps of all mechanisms use.
struct Handshake {
    Peer& peer;
    SocketType type;
    MessageOptions const& options;

    /// Reads until the input has at least `bytes` bytes.
    Future<Void> fill(std::size_t bytes);
    /// Reads the next command, which must have the name `expected`, and returns its data.
    Future<std::string> next(std::string_view expected);
    Future<Void> send(std::string_view name, std::string_view data);
    std::string metadata() const;
    void readMetadata(std::string_view data);
    /// Refuses the peer if the authenticator refuses it. If `isNeeded`, also refuses it if no authenticator is set.
    Future<Void> authenticate(Credentials credentials, bool isNeeded);
};

/// Returns the name of the type on the wire, such as "ROUTER".
std::string_view nameOf(SocketType type);
/// True if sockets of these two types may connect to each other.
bool mayTalk(SocketType ours, std::string_view theirs);

} // namespace flow::net
