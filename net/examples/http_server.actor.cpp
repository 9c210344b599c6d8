#include "net/examples/http_server.h"

#include "flow/flow.h"

#include <memory>

#include "flow/actorcompiler.h"

using namespace flow;
using namespace flow::net;

ACTOR static Future<http::Response> countBytes(std::shared_ptr<http::Request> request) {
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

Future<http::Response> count(http::Request request) {
    return countBytes(std::make_shared<http::Request>(std::move(request)));
}
