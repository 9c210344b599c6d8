#pragma once
// The failure monitor under the old header name.

#include "FlowTransport.h"

using flow::net::FailureStatus;
using flow::net::IFailureMonitor;
