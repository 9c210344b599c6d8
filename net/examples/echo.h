#pragma once
// echo: sends back the received bytes.

#include "net/connection.h"

/// Runs until the other side has ended its writing.
flow::Future<flow::Void> echo(flow::Reference<flow::net::Connection> connection);
