#include "net/examples/http_server.h"

#include "flow/flow.h"
#include "net/http/compress.h"
#include "net/http/router.h"

using namespace flow;
using namespace flow::net;

/// Reads a body piece by piece, so that it needs little memory however long it is.
static Future<http::Response> count(http::Request request) {
    std::uint64_t bytes = 0;
    for (;;) {
        Bytes piece = co_await request.body.read();
        if (piece.empty())
            break;
        bytes += static_cast<std::uint64_t>(piece.size());
    }
    http::Response response;
    response.headers.add("Content-Type", "text/plain");
    response.body = std::to_string(bytes) + "\n";
    co_return response;
}

Future<Void> serveSite(Reference<Listener> listener, http::StaticFiles files, http::ServerOptions options,
                       Future<Void> stop) {
    http::Router router;
    router.add("POST", "/count", count);
    router.add("GET", "/{path...}", files);
    http::HandlerToTheEnd handler = router;
    if (http::canCompress())
        handler = http::compressed(handler);
    Future<Void> serving = http::serve(listener, handler, options, stop);
    co_await std::move(serving);
}
