#pragma once
// CURVE: the security mechanism with keys, by libsodium. Without that library hasCurve() is false, and sockets with
// CURVE cannot be made.

#include "net/message/detail/handshake.h"

namespace flow::net {

bool hasCurve();

/// A pair of keys, as Z85.
struct CurveKeys {
    std::string publicKey, secretKey;
};
/// Makes a new pair. Throws unsupported_operation without libsodium.
CurveKeys makeCurveKeys();
/// Returns the public key that belongs to `secretKey`. Both are 32 bytes.
std::string curvePublicKey(std::string_view secretKey);

// The steps of the handshake after the greeting. Only net/message uses them.

Future<Void> curveServer(Handshake shake);
Future<Void> curveClient(Handshake shake);

} // namespace flow::net
