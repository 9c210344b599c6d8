#pragma once
// The handshake of ZMTP: greeting, mechanism NULL or PLAIN, and the peer's properties.

#include "net/message/peer.h"

namespace flow::net {

/// Notes why the peer is given up, and throws serialization_failed.
[[noreturn]] void refuse(Peer& peer, zmtp::Fault fault);

/// Shakes hands on peer.connection; sets the peer's id and version. Refuses
/// the peer, or throws what reading and writing throws.
Future<Void> shakeHands(Peer& peer, Input& input, SocketType type, MessageOptions const& options);

/// The name of the type on the wire: "ROUTER".
std::string_view nameOf(SocketType type);
/// Whether two of these may talk.
bool mayTalk(SocketType ours, std::string_view theirs);

} // namespace flow::net
