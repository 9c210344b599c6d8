#include "net/examples/http_server.h"

#include "flow/flow.h"
#include "net/http/compress.h"
#include "net/http/router.h"

#include <memory>

#include "flow/actorcompiler.h"

using namespace flow;
using namespace flow::net;

/// Reads a body piece by piece, so that it needs little memory however long it is.
ACTOR static Future<http::Response> count(std::shared_ptr<http::Request> request) {
    state std::uint64_t bytes = 0;
    loop {
        Bytes piece = wait(request->body.read());
        if (piece.empty())
            break;
        bytes += static_cast<std::uint64_t>(piece.size());
    }
    http::Response response;
    response.headers.add("Content-Type", "text/plain");
    response.body = std::to_string(bytes) + "\n";
    return response;
}

Future<Void> serveSite(Reference<Listener> listener, http::StaticFiles files, http::ServerOptions options,
                       Future<Void> stop) {
    http::Router router;
    router.add("POST", "/count", [](http::Request request) {
        return count(std::make_shared<http::Request>(std::move(request)));
    });
    router.add("GET", "/{path...}", files);
    http::HandlerToTheEnd handler = router;
    if (http::canCompress())
        handler = http::compressed(handler);
    return http::serve(listener, handler, options, stop);
}
