#pragma once
// echo: sends back the received bytes.

#include "flow/sync/event.h"
#include "net/connection.h"

/// Runs until the other side has ended its writing, or the server ends.
flow::Future<flow::Void> echo(flow::Reference<flow::net::Connection> connection, flow::Event* ending);
