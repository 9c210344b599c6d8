#pragma once
// http_server: serves the files of a directory by HTTP, and counts the bytes of posted bodies.

#include "net/http/compress.h"
#include "net/http/router.h"
#include "net/http/static_files.h"

/// Answers with the size of the body. Reads the body piece by piece, so it needs little memory.
flow::Future<flow::net::http::Response> count(flow::net::http::Request request);

/// GET returns the file at the path; POST of a body to /count returns its size. If this build has zlib, text is
/// compressed for clients that accept gzip. Serves until `stop` is ready, and then shuts down in order.
inline flow::Future<flow::Void> serveSite(flow::Reference<flow::net::Listener> listener,
                                          flow::net::http::StaticFiles files, flow::net::http::ServerOptions options,
                                          flow::Future<flow::Void> stop) {
    flow::net::http::Router router;
    router.add("POST", "/count", count);
    router.add("GET", "/{path...}", files);
    flow::net::http::HandlerToTheEnd handler = router;
    if (flow::net::http::canCompress())
        handler = flow::net::http::compressed(handler);
    return flow::net::http::serve(listener, handler, options, stop);
}
