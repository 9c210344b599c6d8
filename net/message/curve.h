#pragma once
// CURVE: ZeroMQ's security mechanism with public keys, by libsodium. Without libsodium hasCurve() returns false, and
// sockets with CURVE cannot be made.

#include "net/message/detail/handshake.h"

namespace flow::net {

bool hasCurve();

/// A pair of keys, each as 40 characters of Z85 text.
struct CurveKeys {
    std::string publicKey, secretKey;
};
/// Makes a new pair of keys. Throws unsupported_operation without libsodium.
CurveKeys makeCurveKeys();
/// Returns the public key that belongs to `secretKey`. Both keys are 32 bytes.
std::string curvePublicKey(std::string_view secretKey);

// The steps of the handshake after the greeting. Only net/message uses them.

Future<Void> curveServer(Handshake shake);
Future<Void> curveClient(Handshake shake);

} // namespace flow::net
