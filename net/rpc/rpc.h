#pragma once
// Requests between processes: all of net/rpc. See net/docs/rpc.md.
//
//     #include "net/rpc/rpc.h"

#include "net/rpc/failure_monitor.h"
#include "net/rpc/load_balance.h"
#include "net/rpc/node.h"
#include "net/rpc/reply_promise_stream.h"
#include "net/rpc/request_stream.h"
#include "net/rpc/service.h"
