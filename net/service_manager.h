#pragma once
// passedListeners(), notifyReady(): for a program that systemd, or a service manager with its protocols, has started.
//
//     std::vector<net::PassedListener> passed = net::passedListeners();          // of the .socket unit
//     auto listener = passed.empty() ? net::transport().listen(8080) : passed[0].listener;
//     co_await net::serveUntil(listener, serve, stop, 5.0);                      // says READY and STOPPING
//
//     net::notifyStatus("12 clients");                                           // shown by systemctl status
//
// serveUntil(), and so http::serve(), sends READY=1, once for a process, before its loop first sleeps: by then all
// servers that were started earlier accept connections. It sends STOPPING=1 at the first `stop`. If the unit has
// WatchdogSec, it also sends WATCHDOG=1 twice in that time, as long as the loop turns. Without NOTIFY_SOCKET, and in a
// simulation, it sends nothing. The environment (NOTIFY_SOCKET, WATCHDOG_USEC, LISTEN_FDS, ...) is only read.
//
// The notify functions may be called by any thread. They return false if there is no service manager, or if it has not
// taken the notice within a second.

#include "net/transport.h"

#include <string>
#include <string_view>
#include <vector>

namespace flow::net {

struct PassedListener {
    std::string name; // FileDescriptorName= of the .socket unit; "unknown" without LISTEN_FDNAMES
    Reference<Listener> listener;
};

/// Returns the listening sockets that systemd has passed to this process (LISTEN_FDS), in their order. The first call
/// takes them, and makes them non-blocking; a later call returns none. Call it on a loop with the machine's network; in
/// a simulation it returns none. Closing such a Listener does not remove the file of a Unix socket, which is systemd's.
/// Throws client_invalid_operation with a sentence if LISTEN_FDS is no number, or a descriptor is no socket that
/// listens for connections; then all of them are closed.
std::vector<PassedListener> passedListeners(ListenOptions const& options = {});

/// Sends READY=1. Needed for programs without serveUntil(), after withholdReady(), and at the end of a reload.
bool notifyReady();
/// After this call only notifyReady() sends READY=1: for programs that are not ready when their first server accepts.
void withholdReady();
bool notifyStopping();
/// Sends RELOADING=1: the program loads its configuration again, and then calls notifyReady().
bool notifyReloading();
/// Sets the line that the service manager shows for the program.
bool notifyStatus(std::string_view line);

} // namespace flow::net
