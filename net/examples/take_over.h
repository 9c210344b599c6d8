#pragma once
// A server. The next version of the program takes over its listener, so no client is refused: net/docs/restart.md
// explains it.
//
//     Sockets sockets = co_await takeSockets(at, path);
//     Future<Void> serving = http::serve(sockets.http, handler, {}, replaced(sockets) || endOfProgram());
//     if (sockets.before)
//         co_await sockets.before->write("+"_sr);      // the other process may end

#include "flow/flow.h"
#include "net/transport.h"

struct Sockets {
    flow::Reference<flow::net::Listener> http;
    flow::Reference<flow::net::Listener> successors; // at the path: a process that connects there wants to take over
    flow::Reference<flow::net::Connection> before;   // the process that has given them; null if there was none
};

/// Takes the sockets from the process that serves now. If there is none, opens them.
flow::Future<Sockets> takeSockets(flow::net::Address at, flow::net::Address path);
/// Ready when another process has taken over. One that fails before that changes nothing.
flow::Future<flow::Void> replaced(Sockets sockets);
