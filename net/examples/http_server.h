#pragma once
// http_server: serves the files of a directory by HTTP, and counts the bytes that it is sent.

#include "net/http/server.h"
#include "net/http/static_files.h"

/// GET gives the file at the path; POST of a body to /count answers with its size. Text is sent by gzip to clients that
/// take it, if this build has zlib. Serves until `stop` is ready, and then ends in order.
flow::Future<flow::Void> serveSite(flow::Reference<flow::net::Listener> listener, flow::net::http::StaticFiles files,
                                   flow::net::http::ServerOptions options, flow::Future<flow::Void> stop);
