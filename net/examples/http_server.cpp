#include "net/examples/http_server.h"

#include "flow/flow.h"

using namespace flow;
using namespace flow::net;

Future<http::Response> count(http::Request request) {
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
