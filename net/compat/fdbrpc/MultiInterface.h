#pragma once
// MultiInterface, a group of servers that offer the same service, under the old header name.

#include "../../rpc/load_balance.h"
#include "fdbrpc.h"

using flow::net::MultiInterface;
