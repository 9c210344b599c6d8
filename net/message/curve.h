#pragma once
// CURVE: the security mechanism with keys, by libsodium. Without that library hasCurve() is false, and sockets with
// CURVE cannot be made.

#include "net/message/handshake.h"

namespace flow::net {

bool hasCurve();

/// A new pair of keys, as Z85. Throws unsupported_operation without libsodium.
struct CurveKeys {
    std::string publicKey, secretKey;
};
CurveKeys makeCurveKeys();
/// The public key of a secret key, as 32 bytes.
std::string curvePublicKey(std::string_view secretKey);

// Used by net/message: the steps after the greeting.

Future<Void> curveServer(Handshake shake);
Future<Void> curveClient(Handshake shake);

} // namespace flow::net
