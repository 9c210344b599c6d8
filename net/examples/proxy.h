#pragma once
// proxy: copies bytes between a client and a server, in both directions. When one side ends its writing, the proxy ends
// its writing to the other side, and still copies in the other direction. When one side resets its connection, the
// proxy resets the other. At the end of the program, connections get a second to end, and are then reset.

#include "net/connect.h"

/// Runs until both sides have ended their writing.
flow::Future<flow::Void> proxy(flow::net::NameAndPort to, flow::Reference<flow::net::Connection> client);
