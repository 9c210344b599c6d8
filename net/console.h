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
//     GET /metrics            a page for Prometheus: all loops, the process, and flow/trace/metrics.h
//     GET /metrics.json       the figures of the loop as JSON
//     GET /running            the steps that run at this moment, and where: flow/inspect/running_steps.h
//     GET /pending            the text of dumpPending(); /pending.json gives JSON
//     GET /trace?seconds=1    records for 1 s (at most 60), and returns a trace for ui.perfetto.dev
//     GET /profile?seconds=1  returns a profile for tools/profile; &allocations=1 counts allocations by actor
//     GET /samples?seconds=1  stacks of all threads, taken by a signal, for tools/profile
//
// A console shows the loop on which it is made; /metrics and /running show all loops of the process with a shared
// LoopMetrics (flow/trace/loop_metrics.h). Each console makes one for its loop, which then reads the clock in each
// step. Other loops get one, and a name on the page, by
//
//     auto metrics = LoopMetrics::shared("worker 1");        // on that loop, as long as it is to be on the page
//
// Dropping the future of the console closes it, and waits until it is closed, which takes microseconds (at most 10 s
// while /running is answered). Drop it before its loop ends. While the console is open, run() of its loop does not end
// for lack of work.
//
// All consoles of a process share one thread, which ends with the last of them. So they answer while a step keeps the
// loop busy. Then /metrics has what can be read without that loop: its turns, steps, latencies and busy time, and
// millrace_running_step_seconds; gauges that this loop must read are left out after 0.25 s. /running has the stack of
// the step. /metrics.json has fewer figures. The other pages need the loop: if it does not begin with the answer within
// 1 s, they answer 503 with a sentence that names the running step. A trace or profile that has begun goes on to its
// end, also if the client has left. A console needs the machine's network: a simulation must not open one.

#include "net/transport.h"

#include <string>
#include <vector>

namespace flow::console {

/// Listens at a Unix socket that only this user can connect to: the file has the mode 0600, and the user of each
/// connection is checked. A file that is left from a program that has ended is replaced. The future fails with
/// address_in_use if another program listens at `path`, and with the other errors of Transport::listen(). `loop` is the
/// name of the loop in the figures.
[[nodiscard]] Future<Void> listen(std::string path, std::string loop = "main");

/// Serves /metrics, and nothing else. Any program that can connect to `at` can read that page, but no page of a foreign
/// site can, in a browser on this machine: such requests are answered by 403. For this the field Host of a request must
/// be an address, "localhost" or one of `hosts`. These are names, without a port, by which the scraper calls this
/// machine. The future fails with invalid_option_value if one of them cannot be such a name.
[[nodiscard]] Future<Void> servePrometheus(net::Address at, std::string loop = "main",
                                           std::vector<std::string> hosts = {});

} // namespace flow::console
