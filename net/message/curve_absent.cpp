// For builds without libsodium.

#include "net/message/curve.h"

namespace flow::net {

bool hasCurve() {
    return false;
}
CurveKeys makeCurveKeys() {
    throw unsupported_operation();
}
std::string curvePublicKey(std::string_view) {
    throw unsupported_operation();
}
Future<Void> curveServer(Handshake) {
    return unsupported_operation();
}
Future<Void> curveClient(Handshake) {
    return unsupported_operation();
}

} // namespace flow::net
