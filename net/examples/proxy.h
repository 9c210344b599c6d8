#pragma once
// proxy: copies the bytes of a connection to another one and back. When one side ends its writing, the proxy ends its
// writing to the other side, and still copies in the other direction. When one side resets its connection, the proxy
// resets the other. When the program ends, connections get a second to end, and are then reset.

#include "net/connect.h"

/// Runs until both sides have ended their writing.
flow::Future<flow::Void> proxy(flow::net::NameAndPort to, flow::Reference<flow::net::Connection> client);
