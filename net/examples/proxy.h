#pragma once
// proxy: passes on the bytes of a connection to another one and back. When one side has ended its writing, so does the
// proxy on the other side, and the other direction goes on; when one side resets its connection, so does the proxy.

#include "net/connect.h"

/// Until both sides have ended their writing.
flow::Future<flow::Void> proxy(flow::net::NameAndPort to, flow::Reference<flow::net::Connection> client);
