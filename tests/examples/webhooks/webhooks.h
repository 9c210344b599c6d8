#pragma once
// serveWebhooks(): a service that accepts events by HTTP, and delivers each to its receiver.
//
//     POST /events/{receiver}     202 when the event survives kill -9 and a loss of power. An Idempotency-Key of the
//                                 request is the key of the event; else it gets one, which the answer has
//     GET /dead                   the dead letters: "NUMBER RECEIVER KEY: REASON" for each
//     POST /dead/{number}         delivers one again
//     DELETE /dead/{number}       forgets it
//     GET /health, GET /metrics
//
// An event is delivered at least once, in no order: the receiver's URL gets a POST with the body, its Content-Type and
// the key in Idempotency-Key, until it answers 2xx. A receiver must not act twice on the same key. After the last
// attempt, or an answer that no further attempt will change, the event is a dead letter.

#include "flow/flow.h"
#include "net/http/client.h"
#include "net/transport.h"
#include "outbox.h"

#include <map>
#include <string>

struct WebhookOptions {
    std::map<std::string, std::string> receivers; // URLs by name
    flow::RetryPolicy retry{.attempts = 10, .backoff = 1, .factor = 3, .longest = 600};
    flow::Seconds attemptTime = 10;    // for one attempt
    std::size_t attemptsPerHost = 4;   // at a time
    std::size_t bodyBytes = 64 * 1024; // of an event
    std::size_t most = 10'000;         // events and dead letters: a further event is answered with 503
    flow::net::http::ClientOptions client = {};
};

/// Ends in order when `stop` is ready: running attempts end, and what is not delivered then stays in the outbox. Fails
/// when the outbox does: then open it again.
flow::Future<flow::Void> serveWebhooks(flow::Reference<flow::net::Listener> listener, flow::Reference<Outbox> outbox,
                                       WebhookOptions options, flow::Future<flow::Void> stop);
