#pragma once
// rpc::serve() and rpc::call(): calls of functions in another process, by the name of the request.
//
//     struct Get {                                              // in a header of both sides
//         using Reply = std::string;
//         static constexpr char const* name = "kv/get";
//         std::string key;
//     };
//
//     // The server:
//     Future<Void> served = rpc::serve(node, [&](Get get) { return values[get.key]; },
//                                            [&](Put put) -> Future<Void> { co_await write(put); });
//     // A client:
//     Get get{"key"}; // a variable: gcc 12 copies Get{"key"} bytewise if it stands in the co_await expression
//     std::string value = co_await rpc::call(server, get);
//     ErrorOr<std::string> reply = co_await rpc::tryCall(server, get);
//     std::string any = co_await timeoutError(rpc::call(servers, get), 2.0);
//
// A request is a struct with a type Reply and a name. flow/memory/object.h serializes requests and replies, so later
// versions may add members. A handler takes a request, and returns a Future<Reply>, a Reply, or nothing for Void.
//
// The future of serve() stays pending. Dropping it cancels the running handlers. Their callers get broken_promise.
// Handlers may be coroutines with captures: serve() keeps the captures as long as the future. An error of a handler,
// thrown or in its future, is the result of the call. For each name, at most ServeOptions::atATime handlers run at a
// time. Their requests, without the last one, have at most RpcOptions::backlogBytes. Further requests wait in the
// stream, and then at the sender. The names of a process must differ, and their hashes too: otherwise an assertion
// fails.
//
// call() sends the request again on each new connection until the reply arrives, so the request may arrive twice. It
// also waits for a process that does not listen yet. tryCall() sends the request once. The errors are those of
// getReply() and tryGetReply() in net/rpc/request_stream.h, and:
//     service_not_found             the process has no handler for a request of this name
//
// With several servers, call() uses loadBalance(). Nothing is serialized if a process calls itself.
//
// Cancel-safe: dropping a call, or the end of the connection, cancels the handler at the server. If the call still
// waits there, its handler does not run. With several servers, all handlers of the call are cancelled. A peer can
// cancel only calls of its own connection. With ServeOptions::runsToEnd, a handler that has begun runs to its end,
// unless the future of serve() is dropped. (A handler that is an uncancellable coroutine also runs on. But then it does
// not count for atATime, and it may outlive its captures.)
//
// call(server, request, here) sends the span of the RequestContext `here` to the server, in a separate frame before the
// request. Other calls send no extra bytes. A handler with a second parameter, [&](Get get, RequestContext here), gets
// a context with the span. ServeOptions::tracer begins a span for the handler. Other values of the context are not
// sent.
//
// Deadlines are not sent: at its deadline the client drops the call, which cancels the handler. So clocks need not
// agree. If the client or the network fails, the end of the connection cancels the handler.

#include "flow/sync/trigger.h"
#include "flow/tasks/scope.h"
#include "net/rpc/detail/call_span.h"
#include "net/rpc/load_balance.h"

namespace flow::net::rpc {

struct ServeOptions {
    /// The most handlers of one name that run at a time.
    std::size_t atATime = 1000;
    /// True: a handler that has begun runs to its end, even if its call is dropped. Until then it counts for atATime.
    bool runsToEnd = false;
    TaskPriority priority = TaskPriority::DefaultEndpoint;
    /// Begins a span for each handler, below the client's span. The tracer must outlive the future of serve().
    trace::Tracer* tracer = nullptr;
};

template <class T>
concept NamedRequest = requires {
    typename T::Reply;
    std::string_view(T::name);
};

/// The message of a call. file_identifier is a second hash of the name: if another name has the same kHash, its
/// requests get serialization_failed.
template <NamedRequest Request>
struct Call {
    static constexpr std::uint64_t kHash = hashOf(Request::name);
    static constexpr FileIdentifier file_identifier = static_cast<FileIdentifier>(hashOf(Request::name, 0x4D525343));

    static constexpr bool kIsCall = true;
    static constexpr bool tellsAbandoned = true;

    Request request = {};
    ReplyPromise<typename Request::Reply> reply = {};
    std::size_t heldBytes = 0;   // not sent: counts for RpcOptions::backlogBytes at the server
    RequestContext context = {}; // only its span is sent

    static Endpoint at(Address const& server) { return {{server, {}}, UID(kNamed, kHash), false, 0}; }
    void setHeldBytes(std::size_t bytes) { heldBytes = bytes; }
    void setTrace(trace::SpanContext const& span) { context = contextOf(span); }
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, request, reply);
    }
};

template <class T>
struct ArgumentOf;
template <class Result, class Argument>
struct ArgumentOf<Result (*)(Argument)> {
    using Type = std::remove_cvref_t<Argument>;
};
template <class Result, class F, class Argument>
struct ArgumentOf<Result (F::*)(Argument)> : ArgumentOf<Result (*)(Argument)> {};
template <class Result, class F, class Argument>
struct ArgumentOf<Result (F::*)(Argument) const> : ArgumentOf<Result (*)(Argument)> {};
// For handlers with a second parameter, the context of the request.
template <class Result, class Argument, class Here>
    requires std::same_as<std::remove_cvref_t<Here>, RequestContext>
struct ArgumentOf<Result (*)(Argument, Here)> : ArgumentOf<Result (*)(Argument)> {};
template <class Result, class F, class Argument, class Here>
    requires std::same_as<std::remove_cvref_t<Here>, RequestContext>
struct ArgumentOf<Result (F::*)(Argument, Here)> : ArgumentOf<Result (*)(Argument)> {};
template <class Result, class F, class Argument, class Here>
    requires std::same_as<std::remove_cvref_t<Here>, RequestContext>
struct ArgumentOf<Result (F::*)(Argument, Here) const> : ArgumentOf<Result (*)(Argument)> {};
template <class F>
    requires requires { &F::operator(); }
struct ArgumentOf<F> : ArgumentOf<decltype(&F::operator())> {};

/// A function of a request, or of a request and its RequestContext.
template <class F>
concept Handler = NamedRequest<typename ArgumentOf<F>::Type>;

template <class F, NamedRequest Request>
Future<typename Request::Reply> handleBound(F& handler, Request&& request) {
    using Reply = typename Request::Reply;
    using Result = std::invoke_result_t<F&, Request>;
    constexpr bool kIsReply =
        std::is_convertible_v<Result, Reply> || (std::is_void_v<Result> && std::same_as<Reply, Void>);
    constexpr bool kIsFuture = std::is_convertible_v<Result, Future<Reply>>;
    static_assert(kIsReply || kIsFuture, "a handler returns a Future<Reply>, a Reply, or nothing if Reply is Void");
    if constexpr (std::is_void_v<Result>) {
        handler(std::move(request));
        return Void();
    } else if constexpr (kIsFuture) {
        return handler(std::move(request));
    } else {
        return Reply(handler(std::move(request)));
    }
}
template <Handler F, NamedRequest Request>
Future<typename Request::Reply> handle(F& handler, Request&& request, RequestContext here) {
    if constexpr (std::is_invocable_v<F&, Request, RequestContext>) {
        auto bound = [&](Request&& given) { return handler(std::move(given), std::move(here)); };
        return handleBound(bound, std::move(request));
    } else {
        return handleBound(handler, std::move(request));
    }
}
/// Calls the handler, and begins its span if there is a tracer.
template <Handler F, NamedRequest Request>
Future<typename Request::Reply> handleCall(F& handler, Call<Request>& call, trace::Tracer* tracer) {
    if (!tracer)
        return handle(handler, std::move(call.request), std::move(call.context));
    trace::Span span = beginCallSpan(*tracer, Request::name, call.context);
    Future<typename Request::Reply> result;
    try {
        result = handle(handler, std::move(call.request), span.context());
    } catch (...) {
        span.error(currentError());
        throw;
    }
    return inSpanIfRecording(std::move(result), std::move(span));
}

/// Sends the result. A cancelled handler sends no result, so the caller gets broken_promise.
template <class Reply>
void reply(ReplyPromise<Reply> const& to, ErrorOr<Reply> result) {
    if (!result.isError())
        to.send(std::move(result).get());
    else if (!result.isError(error_code_actor_cancelled))
        to.sendError(result.getError());
}

class RunningHandlers : NonCopyable {
public:
    RunningHandlers(ServeOptions const& options, std::size_t mostBytes)
        : mostCalls_(options.atATime), mostBytes_(mostBytes), runsToEnd_(options.runsToEnd) {}

    bool isFull() const { return calls_ >= mostCalls_ || bytes_ > mostBytes_; }
    Trigger::Next onEnd() { return ended_.next(); }
    template <class Request>
    void add(Future<typename Request::Reply> result, Call<Request> const& call) {
        ++calls_;
        bytes_ += call.heldBytes;
        Counted counted(*this, call.heldBytes);
        running_.spawn(answer(std::move(result), call.reply, std::move(counted)));
    }

private:
    /// Counts a running call, until end() or the destructor.
    struct Counted {
        Counted(RunningHandlers& r, std::size_t b) : running(&r), bytes(b) {}
        Counted(Counted&& other) noexcept : running(std::exchange(other.running, nullptr)), bytes(other.bytes) {}
        ~Counted() { end(); }
        void end() {
            if (RunningHandlers* counting = std::exchange(running, nullptr))
                counting->end(bytes);
        }
        RunningHandlers* running;
        std::size_t bytes;
    };

    template <class Reply>
    Future<Void> answer(Future<Reply> result, ReplyPromise<Reply> to, Counted counted) {
        Future<ErrorOr<Reply>> answered = errorOr(std::move(result));
        Future<Void> abandoned = runsToEnd_ ? Future<Void>(Never()) : to.onAbandoned();
        auto first = co_await race(std::move(answered), std::move(abandoned)); // if abandoned, cancels the handler
        counted.end(); // before the reply: its receiver may destroy this object
        if (first.index() == 0 && !to.isAbandoned())
            reply(to, std::get<0>(std::move(first)));
        else
            to.send(Never());
    }
    void end(std::size_t bytes) {
        --calls_;
        bytes_ -= bytes;
        ended_.trigger();
    }

    std::size_t mostCalls_, mostBytes_;
    bool runsToEnd_;
    std::size_t calls_ = 0, bytes_ = 0;
    Trigger ended_;
    Scope running_{OnError::Report};
};

/// The handler is in a tuple: gcc 14 has an internal error if a pointer to a function is a parameter of this coroutine.
template <Handler F>
Future<Void> serveOne(Node& node, ServeOptions options, std::source_location caller, std::tuple<F> handler) {
    using Request = typename ArgumentOf<F>::Type;
    FLOW_ASSERT_AT(caller, &node == &Node::current(), "rpc::serve() with the node of another loop");
    FLOW_ASSERT_AT(caller, options.atATime != 0, "rpc::serve() with at most 0 calls at a time");
    RequestStream<Call<Request>> stream;
    stream.makeNamedEndpoint(Request::name, options.priority, caller);
    FutureStream<Call<Request>> calls = stream.getFuture();
    RunningHandlers running(options, node.options().backlogBytes);
    for (;;) {
        while (running.isFull())
            co_await running.onEnd();
        Call<Request> call = co_await calls;
        if (call.reply.isAbandoned()) {
            call.reply.send(Never());
            continue;
        }
        try {
            Future<typename Request::Reply> result = handleCall(std::get<0>(handler), call, options.tracer);
            if (result.isReady())
                reply(call.reply, result.isError() ? ErrorOr<typename Request::Reply>::failed(result.getError())
                                                   : ErrorOr<typename Request::Reply>(result.get()));
            else
                running.add(std::move(result), call);
        } catch (...) {
            reply(call.reply, ErrorOr<typename Request::Reply>::failed(currentError()));
        }
    }
}

/// A node, with the source location of the call of serve().
struct NodeOfCaller {
    Node& node;
    std::source_location caller;
    NodeOfCaller(Node& at, std::source_location from = std::source_location::current()) : node(at), caller(from) {}
};

template <Handler... Handlers>
    requires(sizeof...(Handlers) > 0)
Future<Void> serve(NodeOfCaller at, ServeOptions options, Handlers... handlers) {
    // The braces keep the order of the handlers.
    return success(
        all(std::vector<Future<Void>>{serveOne(at.node, options, at.caller, std::tuple(std::move(handlers)))...}));
}
template <Handler... Handlers>
    requires(sizeof...(Handlers) > 0)
Future<Void> serve(NodeOfCaller at, Handlers... handlers) {
    return serve(at, ServeOptions(), std::move(handlers)...);
}

template <NamedRequest Request>
Future<typename Request::Reply> call(Address const& server, Request request) {
    RequestStream<Call<Request>> stream(Call<Request>::at(server));
    return stream.getReply(Call<Request>{std::move(request)});
}
template <NamedRequest Request>
Future<typename Request::Reply> call(Address const& server, Request request, RequestContext const& here) {
    RequestStream<Call<Request>> stream(Call<Request>::at(server));
    trace::Span span(here, Request::name, trace::SpanKind::Client);
    Call<Request> sent{.request = std::move(request), .context = span.context()};
    return inSpanIfRecording(stream.getReply(std::move(sent)), std::move(span));
}

template <NamedRequest Request>
Future<ErrorOr<typename Request::Reply>> tryCall(Address const& server, Request request) {
    RequestStream<Call<Request>> stream(Call<Request>::at(server));
    return stream.tryGetReply(Call<Request>{std::move(request)});
}
template <NamedRequest Request>
Future<ErrorOr<typename Request::Reply>> tryCall(Address const& server, Request request, RequestContext const& here) {
    RequestStream<Call<Request>> stream(Call<Request>::at(server));
    trace::Span span(here, Request::name, trace::SpanKind::Client);
    Call<Request> sent{.request = std::move(request), .context = span.context()};
    return inSpanIfRecording(stream.tryGetReply(std::move(sent)), std::move(span));
}

template <NamedRequest Request>
struct Alternative {
    RequestStream<Call<Request>> stream;
};

template <NamedRequest Request>
Future<typename Request::Reply> call(std::vector<Address> const& servers, Request request) {
    std::vector<Alternative<Request>> alternatives;
    for (Address const& server : servers)
        alternatives.push_back({RequestStream<Call<Request>>(Call<Request>::at(server))});
    return loadBalance(makeReference<MultiInterface<Alternative<Request>>>(std::move(alternatives)),
                       &Alternative<Request>::stream, Call<Request>{std::move(request)});
}

} // namespace flow::net::rpc
