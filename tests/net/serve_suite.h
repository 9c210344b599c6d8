#pragma once
// A server that ends while one client is idle and another one waits for its answer: for handlers in each style.
//
//     onEachNetwork([] { return endInOrder(serveByActor); });

#include "net/serve.h"

namespace flow::test {

/// Runs the test on the machine's network, with each poller that it has, and on a simulated one.
void onEachNetwork(std::function<Future<Void>()> const& test);
/// Runs the test in a process of a simulated network, where waiting costs no real time. The test must leave no
/// connection open.
void onSimulatedNetwork(std::function<Future<Void>()> const& test);

/// What the handler shares with the test.
struct Work {
    int begun = 0; // requests that it has read
    Event mayGoOn{true};
};
/// Answers each line, once it may go on: with "more ", or with "last " if the server ends, and the line.
using ServeLines = std::function<Future<Void>(Reference<net::Connection>, Event* ending, Work*)>;

/// The end of an idle client does not wait for anything, and a busy one gets its answer before its own.
Future<Void> endInOrder(ServeLines serve);

} // namespace flow::test
