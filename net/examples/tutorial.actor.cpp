// Actors and requests, step by step, in one program: net/docs/rpc.md explains them. The program includes headers by
// their names in Flow, like programs that were ported from Flow.
//
//     $ tutorial promises
//     $ tutorial triggers
//     $ tutorial --port 4500 echoServer kvServer
//     $ tutorial --server 127.0.0.1:4500 echoClient
//     $ tutorial --server 127.0.0.1:4500 kvClient
//     $ tutorial --server 127.0.0.1:4500 --seconds 2 kvBenchmark       # in any number of processes

#include "fdbrpc/FlowTransport.h"
#include "fdbrpc/fdbrpc.h"
#include "flow/Arena.h"
#include "flow/IRandom.h"
#include "flow/Trace.h"
#include "flow/flow.h"

#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "flow/actorcompiler.h" // This must be the last #include.

// Requests are made without a value for the member `reply`: GetRequest{"key"}.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

NetworkAddress serverAddress;
double benchmarkSeconds = 1;

enum TutorialEndpoints {
    WLTOKEN_ECHO_SERVER = WLTOKEN_FIRST_AVAILABLE,
    WLTOKEN_KV_SERVER,
    WLTOKEN_COUNT,
};

// -------------------------------------------------------------------------------------------------------------------
// Promises and triggers

ACTOR Future<Void> greet(Future<std::string> name) {
    std::string who = wait(name);
    std::cout << "Hello, " << who << "!" << std::endl;
    return Void();
}

ACTOR Future<Void> promises() {
    state Promise<std::string> promise;
    state Future<Void> greeting = greet(promise.getFuture());
    std::cout << "Who is there?" << std::endl;
    wait(delay(0.1));
    promise.send("world");
    wait(greeting);
    // A promise that is destroyed without a value breaks.
    state Future<Void> never = greet(Promise<std::string>().getFuture());
    try {
        wait(never);
    } catch (Error& e) {
        std::cout << "The promise: " << e.name() << std::endl;
    }
    return Void();
}

ACTOR Future<Void> ring(AsyncTrigger* bell) {
    state int left = 3;
    for (; left > 0; --left) {
        wait(delay(0.05));
        bell->trigger();
    }
    return Void();
}

ACTOR Future<Void> triggers() {
    state AsyncTrigger bell;
    state Future<Void> ringing = ring(&bell);
    state int count = 0;
    loop choose {
        when(wait(bell.onTrigger())) {
            std::cout << "Ring " << ++count << std::endl;
        }
        when(wait(ringing)) {
            break;
        }
    }
    return Void();
}

// -------------------------------------------------------------------------------------------------------------------
// Echo

struct EchoServerInterface {
    constexpr static FileIdentifier file_identifier = 20001;
    RequestStream<struct GetInterfaceRequest> getInterface;
    RequestStream<struct EchoRequest> echo;
    RequestStream<struct ReverseRequest> reverse;
    RequestStream<struct StreamRequest> stream;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, echo, reverse, stream);
    }
};

struct GetInterfaceRequest {
    constexpr static FileIdentifier file_identifier = 20002;
    ReplyPromise<EchoServerInterface> reply;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, reply);
    }
};

struct EchoRequest {
    constexpr static FileIdentifier file_identifier = 20003;
    std::string message;
    ReplyPromise<std::string> reply; // getReply() needs this name

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, message, reply);
    }
};

struct ReverseRequest {
    constexpr static FileIdentifier file_identifier = 20004;
    std::string message;
    ReplyPromise<std::string> reply;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, message, reply);
    }
};

struct StreamReply : ReplyPromiseStreamReply {
    constexpr static FileIdentifier file_identifier = 20005;
    int index = 0;

    StreamReply() = default;
    explicit StreamReply(int i) : index(i) {}
    size_t expectedSize() const { return 2000000; }
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, ReplyPromiseStreamReply::acknowledgeToken, ReplyPromiseStreamReply::sequence, index);
    }
};

struct StreamRequest {
    constexpr static FileIdentifier file_identifier = 20006;
    ReplyPromiseStream<StreamReply> reply;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, reply);
    }
};

ACTOR Future<Void> echoServer() {
    state EchoServerInterface server;
    server.getInterface.makeWellKnownEndpoint(WLTOKEN_ECHO_SERVER, TaskPriority::DefaultEndpoint);
    loop {
        try {
            choose {
                when(GetInterfaceRequest req = waitNext(server.getInterface.getFuture())) {
                    req.reply.send(server);
                }
                when(EchoRequest req = waitNext(server.echo.getFuture())) {
                    req.reply.send(req.message);
                }
                when(ReverseRequest req = waitNext(server.reverse.getFuture())) {
                    req.reply.send(std::string(req.message.rbegin(), req.message.rend()));
                }
                when(state StreamRequest req = waitNext(server.stream.getFuture())) {
                    req.reply.setByteLimit(1024);
                    state int i = 0;
                    for (; i < 10; ++i) {
                        wait(req.reply.onReady()); // until the client has taken the previous reply
                        req.reply.send(StreamReply{i});
                    }
                    req.reply.sendError(end_of_stream());
                }
            }
        } catch (Error& e) {
            if (e.code() != error_code_operation_obsolete) { // this error: the client has gone
                std::cerr << "echoServer: " << e.what() << std::endl;
                throw;
            }
        }
    }
}

ACTOR Future<Void> echoClient() {
    state EchoServerInterface server;
    server.getInterface =
        RequestStream<GetInterfaceRequest>(Endpoint::wellKnown({serverAddress}, WLTOKEN_ECHO_SERVER));
    EchoServerInterface found = wait(server.getInterface.getReply(GetInterfaceRequest()));
    server = found;

    state EchoRequest echoRequest;
    echoRequest.message = "Hello World";
    std::string echoed = wait(server.echo.getReply(echoRequest));
    std::cout << "Sent " << echoRequest.message << ", received " << echoed << std::endl;

    state ReverseRequest reverseRequest;
    reverseRequest.message = "Hello World";
    std::string reversed = wait(server.reverse.getReply(reverseRequest));
    std::cout << "Sent " << reverseRequest.message << ", received " << reversed << std::endl;

    state ReplyPromiseStream<StreamReply> stream = server.stream.getReplyStream(StreamRequest{});
    state int next = 0;
    try {
        loop {
            StreamReply reply = waitNext(stream.getFuture());
            FLOW_ASSERT_TRUE(reply.index == next);
            ++next;
        }
    } catch (Error& e) {
        FLOW_ASSERT_TRUE(e.code() == error_code_end_of_stream);
    }
    std::cout << "Received " << next << " replies of a stream" << std::endl;
    return Void();
}

// -------------------------------------------------------------------------------------------------------------------
// A store of keys and values

struct SimpleKeyValueStoreInterface {
    constexpr static FileIdentifier file_identifier = 20010;
    RequestStream<struct GetKVInterface> connect;
    RequestStream<struct GetRequest> get;
    RequestStream<struct SetRequest> set;
    RequestStream<struct ClearRequest> clear;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, connect, get, set, clear);
    }
};

struct GetKVInterface {
    constexpr static FileIdentifier file_identifier = 20011;
    ReplyPromise<SimpleKeyValueStoreInterface> reply;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, reply);
    }
};

struct GetRequest {
    constexpr static FileIdentifier file_identifier = 20012;
    std::string key;
    ReplyPromise<std::string> reply;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, key, reply);
    }
};

struct SetRequest {
    constexpr static FileIdentifier file_identifier = 20013;
    std::string key;
    std::string value;
    ReplyPromise<Void> reply;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, key, value, reply);
    }
};

struct ClearRequest {
    constexpr static FileIdentifier file_identifier = 20014;
    std::string from;
    std::string to;
    ReplyPromise<Void> reply;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, from, to, reply);
    }
};

ACTOR Future<Void> kvServer() {
    state SimpleKeyValueStoreInterface inf;
    state std::map<std::string, std::string> store;
    inf.connect.makeWellKnownEndpoint(WLTOKEN_KV_SERVER, TaskPriority::DefaultEndpoint);
    loop choose {
        when(GetKVInterface req = waitNext(inf.connect.getFuture())) {
            req.reply.send(inf);
        }
        when(GetRequest req = waitNext(inf.get.getFuture())) {
            auto found = store.find(req.key);
            if (found == store.end())
                req.reply.sendError(io_error());
            else
                req.reply.send(found->second);
        }
        when(SetRequest req = waitNext(inf.set.getFuture())) {
            store[req.key] = req.value;
            req.reply.send(Void());
        }
        when(ClearRequest req = waitNext(inf.clear.getFuture())) {
            store.erase(store.lower_bound(req.from), store.lower_bound(req.to));
            req.reply.send(Void());
        }
    }
}

ACTOR Future<SimpleKeyValueStoreInterface> connectToStore() {
    state SimpleKeyValueStoreInterface store;
    store.connect = RequestStream<GetKVInterface>(Endpoint::wellKnown({serverAddress}, WLTOKEN_KV_SERVER));
    SimpleKeyValueStoreInterface found = wait(store.connect.getReply(GetKVInterface()));
    return found;
}

ACTOR Future<Void> kvClient() {
    state SimpleKeyValueStoreInterface store = wait(connectToStore());
    wait(store.set.getReply(SetRequest{"foo", "bar"}));
    std::string value = wait(store.get.getReply(GetRequest{"foo"}));
    std::cout << "foo is " << value << std::endl;
    wait(store.clear.getReply(ClearRequest{"foo", "foo2"}));
    try {
        std::string cleared = wait(store.get.getReply(GetRequest{"foo"}));
        std::cout << "foo is still " << cleared << std::endl;
    } catch (Error& e) {
        FLOW_ASSERT_TRUE(e.code() == error_code_io_error);
        std::cout << "foo is gone" << std::endl;
    }
    return Void();
}

ACTOR Future<Void> oneOfMany(SimpleKeyValueStoreInterface store, std::shared_ptr<uint64_t> requests) {
    state double end = now() + benchmarkSeconds;
    state std::string key;
    while (now() < end) {
        key = format("%08d", deterministicRandom()->randomInt(0, 10000));
        wait(store.set.getReply(SetRequest{key, "value"}));
        std::string value = wait(store.get.getReply(GetRequest{key}));
        FLOW_ASSERT_TRUE(value == "value");
        *requests += 2;
    }
    return Void();
}

ACTOR Future<Void> kvBenchmark() {
    state SimpleKeyValueStoreInterface store = wait(connectToStore());
    state std::shared_ptr<uint64_t> requests = std::make_shared<uint64_t>(0);
    state std::vector<Future<Void>> clients;
    for (int i = 0; i < 100; ++i)
        clients.push_back(oneOfMany(store, requests));
    wait(waitForAll(clients));
    std::cout << format("%.0f requests per second", static_cast<double>(*requests) / benchmarkSeconds) << std::endl;
    return Void();
}

// -------------------------------------------------------------------------------------------------------------------

std::map<std::string, std::function<Future<Void>()>> const steps = {
    {"promises", promises}, {"triggers", triggers}, {"echoServer", echoServer},   {"echoClient", echoClient},
    {"kvServer", kvServer}, {"kvClient", kvClient}, {"kvBenchmark", kvBenchmark},
};

int usage() {
    std::cerr << "usage: tutorial [--port N] [--server ADDRESS] [--seconds N] STEP...; clients need --server; steps:";
    for (auto const& [name, step] : steps)
        std::cerr << " " << name;
    std::cerr << std::endl;
    return 2;
}

int main(int argc, char** argv) {
    std::string port;
    std::vector<std::function<Future<Void>()>> chosen;
    bool asksServer = false;
    for (int i = 1; i < argc; ++i) {
        std::string argument = argv[i];
        bool hasValue = i + 1 < argc;
        if (argument == "--port" && hasValue) {
            port = argv[++i];
            if (!NetworkAddress::parseOptional("0.0.0.0:" + port).present())
                return usage();
        } else if (argument == "--server" && hasValue) {
            Optional<NetworkAddress> parsed = NetworkAddress::parseOptional(argv[++i]);
            if (!parsed.present())
                return usage();
            serverAddress = parsed.get();
        } else if (argument == "--seconds" && hasValue) {
            benchmarkSeconds = std::atof(argv[++i]);
            if (!(benchmarkSeconds > 0))
                return usage();
        } else if (steps.count(argument)) {
            chosen.push_back(steps.at(argument));
            asksServer |= argument == "kvBenchmark" || argument.ends_with("Client");
        } else {
            return usage();
        }
    }
    if (chosen.empty() || (asksServer && !serverAddress.isValid()))
        return usage();

    platformInit();
    g_network = newNet2(TLSConfig(), false, true);
    FlowTransport::createInstance(port.empty(), 0, WLTOKEN_COUNT);
    try {
        if (!port.empty()) {
            NetworkAddress publicAddress = NetworkAddress::parse("0.0.0.0:" + port);
            auto listenError = FlowTransport::transport().bind(publicAddress, publicAddress);
            if (listenError.isError())
                listenError.get();
            std::cout << "listening at 127.0.0.1:" << FlowTransport::transport().getLocalAddress().port() << std::endl;
        }
        std::vector<Future<Void>> all;
        for (auto const& step : chosen)
            all.push_back(step());
        Future<Void> done = stopAfter(waitForAll(all));
        g_network->run();
        if (done.isError())
            done.get();
    } catch (Error& e) {
        std::cerr << "tutorial: " << e.what() << std::endl;
        return 1;
    }
    return 0;
}
