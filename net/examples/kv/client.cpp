#include "net/examples/kv/client.h"

#include "flow/flow.h"

namespace kv {

Future<Reply> StoreClient::ask(Request request) {
    request.client = id_;
    request.number = ++number_;
    for (;;) {
        if (!server_.present())
            server_ = net::RequestStream<StoreRequest>(
                net::Endpoint::wellKnown({deterministicRandom()->randomChoice(servers_), {}}, kRequests));
        Future<ErrorOr<Reply>> replied = server_.get().tryGetReply(StoreRequest{.request = request, .reply = {}});
        auto first = co_await race(std::move(replied), delay(kPatience));
        if (first.index() == 0) {
            ErrorOr<Reply> reply = std::get<0>(std::move(first));
            if (reply.isError(error_code_value_too_large))
                throw reply.getError();
            if (!reply.isError() && reply.get().done)
                co_return reply.get();
            CODE_PROBE(reply.isError(), "a server ends while a request waits for its reply");
        }
        server_ = {};
        co_await delay(0.1 * deterministicRandom()->random01());
    }
}

} // namespace kv
