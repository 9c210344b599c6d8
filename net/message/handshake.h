#pragma once
// The handshake of ZMTP: greeting, mechanism NULL or PLAIN, and the peer's properties.

#include "net/message/peer.h"

namespace flow::net {

/// Notes why the peer is given up, and throws serialization_failed.
[[noreturn]] void refuse(Peer& peer, zmtp::Fault fault);

/// Shakes hands on peer.connection; sets the peer's id, version and cipher. Refuses the peer, or throws what reading
/// and writing throws.
Future<Void> shakeHands(Peer& peer, SocketType type, MessageOptions const& options);

/// What the steps of a mechanism have in common.
struct Handshake {
    Peer& peer;
    SocketType type;
    MessageOptions const& options;

    /// At least so many bytes, behind those that are there.
    Future<Void> fill(std::size_t bytes);
    /// The data of the command that must come next.
    Future<std::string> next(std::string_view expected);
    Future<Void> send(std::string_view name, std::string_view data);
    std::string metadata() const;
    void readMetadata(std::string_view data);
    /// Refuses the peer if the authenticator does.
    Future<Void> authenticate(Credentials credentials, bool isNeeded);
};

/// The name of the type on the wire: "ROUTER".
std::string_view nameOf(SocketType type);
/// Whether two of these may talk.
bool mayTalk(SocketType ours, std::string_view theirs);

} // namespace flow::net
