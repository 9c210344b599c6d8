#pragma once
// The console shows the state of a running program: figures of a loop, pending computations, and a short trace.
//
//     Future<Void> serving = console::listen("/run/user/1000/service.sock");
//     Future<Void> scraped = console::servePrometheus(*Address::parse("127.0.0.1:9100"));
//
//     $ tools/console /run/user/1000/service.sock          # or the number of the process
//     $ curl --unix-socket /run/user/1000/service.sock http://x/pending
//
// It is HTTP, one request a connection:
//
//     GET /metrics            a page for Prometheus: loop, sockets, poller, memory, and flow/trace/metrics.h
//     GET /metrics.json       the figures of the loop as JSON
//     GET /pending            what dumpPending() writes; /pending.json the same as JSON
//     GET /trace?seconds=1    records for so long, at most 60 s, and gives a trace for ui.perfetto.dev
//     GET /profile?seconds=1  the same for tools/profile; &allocations=1 counts allocations by actor
//     GET /samples?seconds=1  stacks of all threads, taken by a signal, for tools/profile
//
// A console shows the loop on which it is made. Dropping its future closes it. While it exists each step costs
// reads of the clock (flow/trace/loop_metrics.h). Its requests run on the same loop, so a loop that a step keeps busy
// does not answer. Needs the machine's network.

#include "net/transport.h"

#include <string>

namespace flow::console {

/// Listens at a Unix socket that only this user can connect to: the file has the mode 0600, and the user of each
/// connection is checked. A file that a program has left behind is replaced if that program has ended. The future fails
/// with address_in_use if another program listens there, and with what Transport::listen() throws. `loop` is how the
/// figures name the loop.
[[nodiscard]] Future<Void> listen(std::string path, std::string loop = "main");

/// Serves /metrics, and nothing else. Any program that can connect to the address can read it.
[[nodiscard]] Future<Void> servePrometheus(net::Address at, std::string loop = "main");

} // namespace flow::console
