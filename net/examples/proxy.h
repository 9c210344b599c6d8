#pragma once
// proxy: copies the bytes of a connection to another one and back. When one side ends its writing, the proxy ends its
// writing to the other side, and the other direction goes on; when one side resets its connection, the proxy resets the
// other. It does not know where a request ends: when its program ends, connections have the grace, and are reset then.

#include "net/connect.h"

/// Runs until both sides have ended their writing.
flow::Future<flow::Void> proxy(flow::net::NameAndPort to, flow::Reference<flow::net::Connection> client);
