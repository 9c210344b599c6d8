#pragma once
// RPC requests and replies, under the old header name, with the functions that wait for replies.

#include "../../rpc/reply_promise_stream.h"
#include "../../rpc/request_stream.h"
#include "FailureMonitor.h"
#include "FlowTransport.h"

using flow::net::getReplyPromise;
using flow::net::ReplyPromise;
using flow::net::ReplyPromiseStream;
using flow::net::ReplyPromiseStreamReply;
using flow::net::RequestStream;
using flow::net::resetReply;

#include "genericactors.h" // Flow's header has these functions, too
