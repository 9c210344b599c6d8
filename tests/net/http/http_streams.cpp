#include "tests/net/http/http_streams.h"

#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "net/http/detail/body_io.h"
#include "net/testing/connection_pair.h"

using namespace flow;
using namespace flow::net;
using namespace flow::net::http;
using namespace flow::net::http::detail;

namespace {

Future<Void> write(Reference<Connection> to, std::string_view bytes, std::size_t piece) {
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        co_await to->write(StringRef(bytes.substr(at, piece)));
        co_await delay(0.001);
    }
    to->shutdownWrite();
}

Future<FoundStream> read(Reference<Connection> from) {
    FoundStream stream;
    for (;;) {
        Request request;
        Framing framing;
        Reference<ReceivedBody> body;
        Error error;
        try {
            Bytes head = co_await from->readUntil("\r\n\r\n"_sr, 16384);
            if (Refusal refusal = parseRequest(head, 100, request, framing)) {
                stream.end = std::to_string(refusal.status);
                co_return stream;
            }
            body = makeReference<ReceivedBody>(from, framing, BodyLimits{.bytes = 1 << 20, .seconds = 1e6});
            Body whole = Body::from(body, framing.size());
            std::string text = co_await whole.text(1 << 20);
            stream.requests.push_back({request.method, request.target, text});
        } catch (Error& thrown) {
            error = thrown;
        }
        if (error.isValid()) {
            stream.end = body && body->refusal()      ? std::to_string(body->refusal().status)
                         : error == end_of_stream()   ? "end"
                         : error == value_too_large() ? "431"
                                                      : "cut";
            co_return stream;
        }
        if (!framing.keepsAlive) {
            stream.end = "closed";
            co_return stream;
        }
    }
}

} // namespace

FoundStream readStream(std::string_view bytes, std::size_t piece) {
    static SimLoop loop; // one for all streams: a new one costs more than a stream
    ConnectionPair pair = connectionPair();
    Future<Void> writing = write(pair.first, bytes, piece);
    return loop.run(read(pair.second));
}
