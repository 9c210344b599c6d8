#pragma once
// CURVE: ZeroMQ's encryption with public keys, by libsodium. hasCurve() returns false in a build without libsodium.

#include "net/message/detail/handshake.h"

namespace flow::net {

bool hasCurve();

/// A pair of keys, as Z85 text of 40 characters.
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
