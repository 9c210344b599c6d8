#pragma once
// The console shows the state of a running program: figures of a loop, pending computations, and a short trace.
//
//     Future<Void> serving = console::listen("/run/user/1000/service.sock");
//     Future<Void> scraped = console::servePrometheus(*Address::parse("127.0.0.1:9100"));
//
//     $ millrace console /run/user/1000/service.sock       # or the number of the process
//     $ curl --unix-socket /run/user/1000/service.sock http://x/pending
//
// The protocol is HTTP, with one request for each connection:
//
//     GET /metrics            a page for Prometheus: all loops, the process, and flow/trace/metrics.h
//     GET /metrics.json       the figures of the loop as JSON
//     GET /running            the steps that run at this moment, and where: flow/inspect/running_steps.h
//     GET /pending            the text of dumpPending(); /pending.json gives JSON
//     GET /trace?seconds=1    records for 1 s (at most 60), and returns a trace for ui.perfetto.dev
//     GET /profile?seconds=1  returns a profile for millrace profile; &allocations=1 counts allocations by actor
//     GET /samples?seconds=1  stacks of all threads, taken by a signal, for millrace profile
//
// A console shows the loop on which it is made, but /metrics and /running show all loops of the process that have a
// shared LoopMetrics (flow/trace/loop_metrics.h). Each console makes a LoopMetrics for its loop, which then reads the
// clock in each step. Another loop must make its own, and keep it as long as the loop should be on the page:
//
//     auto metrics = LoopMetrics::shared("worker 1");        // the loop's name on the page
//
// Dropping the future closes the console and blocks until it is closed: for microseconds, or at most 10 s while
// /running is answered. Drop it before its loop ends. While the console is open, run() of its loop does not return for
// lack of work.
//
// All consoles of a process share one thread, so they answer even while a step keeps the loop busy. Then /running has
// the stack of the step, /metrics.json has fewer figures, and /metrics has what can be read from another thread: the
// loop's turns, steps, latencies and busy time, and millrace_running_step_seconds. After 0.25 s gauges that only the
// busy loop can read are left out. The other pages need the loop: if it does not start the answer within 1 s, they
// answer 503 and name the running step. A trace or profile that has begun runs to its end even if the client has left.
// A console needs the machine's network: a simulation must not open one.

#include "net/transport.h"

#include <string>
#include <vector>

namespace flow::console {

/// Opens a console at a Unix socket to which only this user can connect: the file has the mode 0600, and the user of
/// each connection is checked. A socket file that no program listens to any more is replaced. The future fails with
/// address_in_use if a program listens at `path`, and with the other errors of Transport::listen(). `nameOfLoop` is the
/// name of the loop in the figures.
[[nodiscard]] Future<Void> listen(std::string path, std::string nameOfLoop = "main");

/// Serves /metrics, and nothing else, to any program that can connect to `at`. Pages of other sites in a browser on
/// this machine get 403: the field Host of a request must be an address, "localhost" or one of `hosts`. `hosts` are the
/// names, without a port, that the scraper uses for this machine. The future fails with invalid_option_value if a name
/// is invalid.
[[nodiscard]] Future<Void> servePrometheus(net::Address at, std::string nameOfLoop = "main",
                                           std::vector<std::string> hosts = {});

} // namespace flow::console
