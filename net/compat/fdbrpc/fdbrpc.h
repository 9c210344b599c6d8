#pragma once
// Requests between processes under the old header name.

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
