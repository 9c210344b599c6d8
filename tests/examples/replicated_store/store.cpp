#include "store.h"

#include "net/rpc/rpc.h"

#include <algorithm>
#include <map>

using namespace flow;
using namespace flow::net;

namespace {

struct GetRequest {
    constexpr static FileIdentifier file_identifier = 7001;
    std::string key;
    ReplyPromise<Versioned> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, key, reply);
    }
};

struct SetRequest {
    constexpr static FileIdentifier file_identifier = 7002;
    std::string key;
    Versioned value;
    ReplyPromise<Void> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, key, value, reply);
    }
};

constexpr int kRead = WLTOKEN_FIRST_AVAILABLE;
constexpr int kWrite = kRead + 1;

} // namespace

Future<Void> serveReplica(Address at) {
    RequestStream<GetRequest> reads;
    RequestStream<SetRequest> writes;
    reads.makeWellKnownEndpoint(kRead, TaskPriority::DefaultEndpoint);
    writes.makeWellKnownEndpoint(kWrite, TaskPriority::DefaultEndpoint);
    Future<Void> listening = rpc::Node::current().bind(at, at);
    FutureStream<GetRequest> readsToCome = reads.getFuture();
    FutureStream<SetRequest> writesToCome = writes.getFuture();
    std::map<std::string, Versioned> values;
    while (true) {
        auto next = co_await race(readsToCome, writesToCome, listening); // fails when listening does
        if (next.index() == 0) {
            GetRequest request = std::get<0>(std::move(next));
            request.reply.send(values[request.key]);
        } else if (next.index() == 1) { // it may arrive twice, and late: only a newer value changes anything
            SetRequest request = std::get<1>(std::move(next));
            Versioned& there = values[request.key];
            there = std::max(there, request.value);
            request.reply.send(Void());
        }
    }
}

Future<Versioned> Store::newest(std::string key) {
    std::vector<Future<Versioned>> replies;
    for (Address const& replica : replicas_) {
        GetRequest request;
        request.key = key;
        RequestStream<GetRequest> stream(Endpoint::wellKnown({replica, {}}, kRead));
        replies.push_back(stream.getReply(std::move(request))); // sent again on each new connection
    }
    co_await quorum(replies, most());
    Versioned result;
    for (Future<Versioned> const& reply : replies)
        if (reply.isReady() && !reply.isError())
            result = std::max(result, reply.get());
    co_return result;
}

Future<Void> Store::writeToMost(std::string key, Versioned value) {
    std::vector<Future<Void>> replies;
    for (Address const& replica : replicas_) {
        SetRequest request;
        request.key = key;
        request.value = value;
        RequestStream<SetRequest> stream(Endpoint::wellKnown({replica, {}}, kWrite));
        replies.push_back(stream.getReply(std::move(request)));
    }
    co_await quorum(replies, most());
}

Future<Void> Store::put(std::string key, std::string value) {
    Versioned before = co_await newest(key);
    lastNumber_ = std::max(lastNumber_, before.number) + 1;
    Versioned next{lastNumber_, writer_, value};
    co_await writeToMost(key, next);
}

Future<Optional<std::string>> Store::get(std::string key) {
    Versioned found = co_await newest(key);
    if (found.number == 0)
        co_return Optional<std::string>();
    co_await writeToMost(key, found); // so that no later read finds an older one
    co_return Optional<std::string>(found.value);
}
