#pragma once
// echo: sends back what comes.

#include "net/connection.h"

/// Until the other side has ended its writing.
flow::Future<flow::Void> echo(flow::Reference<flow::net::Connection> connection);
