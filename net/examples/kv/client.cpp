#include "net/examples/kv/client.h"

#include "flow/flow.h"

namespace kv {

Future<Reply> StoreClient::ask(Request request) {
    constexpr double kPatience = 1; // seconds
    request.client = id_;
    request.number = ++number_;
    for (;; server_ = {}) {
        if (!server_.present())
            server_ = deterministicRandom()->randomChoice(servers_);
        ErrorOr<Reply> late = ErrorOr<Reply>::failed(timed_out());
        ErrorOr<Reply> reply = co_await timeout(net::rpc::tryCall(server_.get(), request), kPatience, late);
        if (reply.isError(error_code_value_too_large) || (reply.present() && reply->done))
            co_return reply.get(); // throws the error, if there is one
        bool isLost = reply.isError(error_code_request_maybe_delivered);
        FLOW_CODE_PROBE(isLost, "a server ends while a request waits for its reply");
        co_await delay(0.1 * deterministicRandom()->random01());
    }
}

} // namespace kv
