#pragma once
// http_server: serves the files of a directory by HTTP, and counts the bytes that it is sent.

#include "net/http/compress.h"
#include "net/http/router.h"
#include "net/http/static_files.h"

/// Answers with the number of bytes of the body. Reads the body piece by piece, so that it needs little memory.
flow::Future<flow::net::http::Response> count(flow::net::http::Request request);

/// GET gives the file at the path; POST of a body to /count answers with its size. Text is sent by gzip to clients that
/// take it, if this build has zlib. Serves until `stop` is ready, and then ends in order.
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
