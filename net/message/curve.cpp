#include "net/message/curve.h"

#include "net/message/z85.h"

namespace flow::net {

bool hasCurve() {
    return false;
}
CurveKeys makeCurveKeys() {
    throw unsupported_operation();
}
std::optional<std::string> curveKey(std::string_view text) {
    if (text.size() == 32)
        return std::string(text);
    std::optional<std::string> key = z85Decode(text);
    return key && key->size() == 32 ? key : std::nullopt;
}
std::string curvePublicKey(std::string_view) {
    throw unsupported_operation();
}
Future<Void> curveServer(Handshake) {
    throw unsupported_operation();
}
Future<Void> curveClient(Handshake) {
    throw unsupported_operation();
}

} // namespace flow::net
