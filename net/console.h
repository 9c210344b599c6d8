#pragma once
// The console shows the state of a running program: figures of a loop, pending computations, and a short trace.
//
//     Future<Void> serving = console::listen("/run/user/1000/service.sock");
//     Future<Void> scraped = console::servePrometheus(*Address::parse("127.0.0.1:9100"));
//
//     $ tools/console /run/user/1000/service.sock          # or the number of the process
//     $ curl --unix-socket /run/user/1000/service.sock http://x/pending
//
// The protocol is HTTP, with one request for each connection:
//
//     GET /metrics            a page for Prometheus: loop, sockets, poller, memory, and flow/trace/metrics.h
//     GET /metrics.json       the figures of the loop as JSON
//     GET /pending            the text of dumpPending(); /pending.json gives JSON
//     GET /trace?seconds=1    records for 1 s (at most 60), and returns a trace for ui.perfetto.dev
//     GET /profile?seconds=1  returns a profile for tools/profile; &allocations=1 counts allocations by actor
//     GET /samples?seconds=1  stacks of all threads, taken by a signal, for tools/profile
//
// A console shows the loop on which it is made. Dropping the future of the console closes it. While a console exists,
// the loop reads the clock in each step (flow/trace/loop_metrics.h). The requests run on the same loop, so they wait
// while a step keeps the loop busy. A console needs the machine's network.

#include "net/transport.h"

#include <string>

namespace flow::console {

/// Listens at a Unix socket that only this user can connect to: the file has the mode 0600, and the user of each
/// connection is checked. A file that is left from a program that has ended is replaced. The future fails with
/// address_in_use if another program listens at `path`, and with the other errors of Transport::listen(). `loop` is the
/// name of the loop in the figures.
[[nodiscard]] Future<Void> listen(std::string path, std::string loop = "main");

/// Serves /metrics, and nothing else. Any program that can connect to `at` can read that page.
[[nodiscard]] Future<Void> servePrometheus(net::Address at, std::string loop = "main");

} // namespace flow::console
