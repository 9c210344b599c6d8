#pragma once
// loadBalance(): sends a request to one of several equivalent servers.
//
//     auto stores = makeReference<MultiInterface<StoreInterface>>(interfaces);
//     std::string value = co_await loadBalance(stores, &StoreInterface::get, GetRequest{"key"});
//
// The call asks the servers that have not failed, one after the other. It begins with a random server. If a server has
// not answered after kHedgeAfter seconds, the call also asks the next one, and uses the first answer. The call goes on
// to the next server if the connection ends or the server does not have the endpoint. If all servers have failed, the
// call waits until one is available, but at most 0.5 seconds, and asks again. An error that a server sends is the
// result. But after service_not_found, the call first asks the other servers.
//
// With AtMostOnce::True the call sends the request to one server, and to the next one only after service_not_found. If
// the connection fails, the result is request_maybe_delivered. basicLoadBalance() never asks two servers at a time.
//
// The request is copied for each server. Cancel-safe.

#include "flow/base/random.h"
#include "flow/combine/all.h"
#include "flow/combine/race.h"
#include "flow/wait/delay.h"
#include "net/rpc/request_stream.h"

#include <vector>

namespace flow::net {

enum class AtMostOnce : bool { False, True };

constexpr double kHedgeAfter = 0.1;

template <class Interface>
class MultiInterface : public ReferenceCounted<MultiInterface<Interface>> {
public:
    explicit MultiInterface(std::vector<Interface> servers) : servers_(std::move(servers)) {}

    std::size_t size() const { return servers_.size(); }
    Interface const& getInterface(std::size_t index) const { return servers_[index]; }
    template <class Request>
    RequestStream<Request> const& get(std::size_t index, RequestStream<Request> Interface::* channel) const {
        return servers_[index].*channel;
    }

private:
    std::vector<Interface> servers_;
};

namespace rpc {

template <class Interface, class Request>
class Alternatives {
public:
    Alternatives(Reference<MultiInterface<Interface>> servers, RequestStream<Request> Interface::* channel)
        : servers_(std::move(servers)), channel_(channel) {
        if (size() > 0)
            next_ = static_cast<std::size_t>(deterministicRandom()->randomInt(0, static_cast<int>(size())));
    }

    std::size_t size() const { return servers_->size(); }
    /// Returns the next server that has not failed, or null.
    RequestStream<Request> const* next() {
        FailureMonitor& monitor = FailureMonitor::failureMonitor();
        for (std::size_t i = 0; i < servers_->size(); ++i) {
            RequestStream<Request> const& stream = servers_->get(next_++ % servers_->size(), channel_);
            if (monitor.getState(stream.getEndpoint()).isAvailable())
                return &stream;
        }
        return nullptr;
    }
    Future<Void> onAnyAvailable() {
        std::vector<Future<Void>> available;
        for (std::size_t i = 0; i < servers_->size(); ++i)
            available.push_back(FailureMonitor::failureMonitor().onStateEqual(servers_->get(i, channel_).getEndpoint(),
                                                                              FailureStatus(false)));
        available.push_back(delay(kRetry)); // after this time, a request tries to connect again
        return success(race(std::move(available)));
    }
    /// Returns the next server, even if it has failed.
    RequestStream<Request> const& any() { return servers_->get(next_++ % servers_->size(), channel_); }

private:
    static constexpr double kRetry = 0.5;
    Reference<MultiInterface<Interface>> servers_;
    RequestStream<Request> Interface::* channel_;
    std::size_t next_ = 0;
};

/// `alternatives` has the pointer to a member: gcc 14.2 has an internal error if this coroutine has it as a parameter.
template <class Interface, class Request>
Future<ReplyOf<Request>> balance(Alternatives<Interface, Request> alternatives, Request request, TaskPriority priority,
                                 AtMostOnce atMostOnce, bool hedges) {
    using Reply = ReplyOf<Request>;
    if (alternatives.size() == 0)
        co_await coro::fail(operation_failed());
    auto ask = [&](RequestStream<Request> const& stream) {
        Request copy = request;
        resetReply(copy);
        return stream.tryGetReply(std::move(copy), priority);
    };
    std::size_t unknown = 0; // servers that have answered service_not_found
    for (;;) {
        RequestStream<Request> const* stream = alternatives.next();
        if (!stream && atMostOnce == AtMostOnce::False) {
            co_await alternatives.onAnyAvailable();
            stream = alternatives.next();
        }
        Future<ErrorOr<Reply>> first = ask(stream ? *stream : alternatives.any());
        Future<ErrorOr<Reply>> second; // invalid: no second request
        if (hedges && atMostOnce == AtMostOnce::False && alternatives.size() > 1) {
            (void)co_await race(success(first), delay(kHedgeAfter));
            RequestStream<Request> const* other = first.isReady() ? nullptr : alternatives.next();
            if (other)
                second = ask(*other);
        }
        if (second.isValid()) { // take the earlier reply, unless its connection has failed
            (void)co_await race(success(first), success(second));
            Future<ErrorOr<Reply>>& faster = first.isReady() ? first : second;
            if (!faster.get().isError(error_code_request_maybe_delivered))
                first = faster;
            else if (first.isReady())
                first = second;
        }
        ErrorOr<Reply> reply = co_await std::move(first);
        if (reply.isError(error_code_request_maybe_delivered) && atMostOnce == AtMostOnce::False)
            continue;
        if (reply.isError(error_code_service_not_found) && ++unknown < alternatives.size())
            continue;
        if (reply.isError())
            co_await coro::fail(reply.getError());
        if constexpr (std::is_same_v<Reply, Void>)
            co_return;
        else
            co_return std::move(reply).get();
    }
}

} // namespace rpc

template <class Interface, class Request>
Future<ReplyOf<Request>> loadBalance(Reference<MultiInterface<Interface>> servers,
                                     RequestStream<Request> Interface::* channel, Request request = Request(),
                                     TaskPriority priority = TaskPriority::DefaultPromiseEndpoint,
                                     AtMostOnce atMostOnce = AtMostOnce::False) {
    return rpc::balance(rpc::Alternatives(std::move(servers), channel), std::move(request), priority, atMostOnce, true);
}

template <class Interface, class Request>
Future<ReplyOf<Request>> basicLoadBalance(Reference<MultiInterface<Interface>> servers,
                                          RequestStream<Request> Interface::* channel, Request request = Request(),
                                          TaskPriority priority = TaskPriority::DefaultPromiseEndpoint,
                                          AtMostOnce atMostOnce = AtMostOnce::False) {
    return rpc::balance(rpc::Alternatives(std::move(servers), channel), std::move(request), priority, atMostOnce,
                        false);
}

} // namespace flow::net
