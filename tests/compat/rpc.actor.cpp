// Requests, addresses and serialized structs under the header names that programs include.
#include "fdbrpc/forward.h"
#include "fdbrpc/ContinuousSample.h"
#include "fdbrpc/FailureMonitor.h"
#include "fdbrpc/FlowTransport.h"
#include "fdbrpc/LoadBalance.actor.h"
#include "fdbrpc/MultiInterface.h"
#include "fdbrpc/Smoother.h"
#include "fdbrpc/Stats.h"
#include "fdbrpc/TimedRequest.h"
#include "fdbrpc/fdbrpc.h"
#include "fdbrpc/genericactors.actor.h"
#include "flow/FileIdentifier.h"
#include "flow/IPAddress.h"
#include "flow/NetworkAddress.h"
#include "flow/ObjectSerializer.h"
#include "flow/flow.h"
#include "flow/actorcompiler.h" // This must be the last #include.

#ifdef NO_INTELLISENSE
class Endpoint;
template <class Request>
class RequestStream;
#endif

struct AddRequest {
    constexpr static FileIdentifier file_identifier = 30001;
    int a = 0, b = 0;
    ReplyPromise<int> reply;

    AddRequest() = default;
    AddRequest(int first, int second) : a(first), b(second) {}
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, a, b, reply);
    }
};

struct Number : ReplyPromiseStreamReply {
    constexpr static FileIdentifier file_identifier = 30003;
    int value = 0;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, ReplyPromiseStreamReply::acknowledgeToken, ReplyPromiseStreamReply::sequence, value);
    }
};

struct CountRequest {
    constexpr static FileIdentifier file_identifier = 30004;
    int count = 0;
    ReplyPromiseStream<Number> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, count, reply);
    }
};

struct AdderInterface {
    constexpr static FileIdentifier file_identifier = 30002;
    RequestStream<AddRequest> add;
    RequestStream<CountRequest> count;
    RequestStream<ReplyPromise<int>> served;

    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, add, count, served);
    }
};

ACTOR Future<Void> count(CountRequest request) {
    state int i = 0;
    request.reply.setByteLimit(100); // a few of them
    try {
        for (; i < request.count; ++i) {
            wait(request.reply.onReady());
            Number number;
            number.value = i;
            request.reply.send(number);
        }
        request.reply.sendError(end_of_stream());
    } catch (Error& e) {
        if (e.code() == error_code_actor_cancelled)
            throw;
        request.reply.sendError(e);
    }
    return Void();
}

ACTOR Future<Void> adder(AdderInterface interf) {
    state ActorCollection counting(false);
    state int served = 0;
    loop choose {
        when(ReplyPromise<int> request = waitNext(interf.served.getFuture())) {
            request.send(++served);
        }
        when(AddRequest request = waitNext(interf.add.getFuture())) {
            if (request.a < 0) {
                request.reply.sendError(operation_failed());
                continue;
            }
            if (request.b >= 0)
                request.reply.send(request.a + request.b);
        }
        when(state CountRequest request = waitNext(interf.count.getFuture())) {
            wait(delay(0));
            counting.add(count(request));
        }
        when(wait(counting.getResult())) {
            ASSERT(false);
        }
    }
}

ACTOR Future<int> total(AdderInterface interf, int count) {
    state CountRequest request;
    request.count = count;
    state ReplyPromiseStream<Number> numbers = interf.count.getReplyStream(request);
    state int sum = 0;
    try {
        loop {
            Number number = waitNext(numbers.getFuture());
            sum += number.value;
        }
    } catch (Error& e) {
        if (e.code() != error_code_end_of_stream)
            throw;
    }
    return sum;
}

ACTOR template <class Interface, class Request>
Future<REPLY_TYPE(Request)> askTwice(Interface interf, RequestStream<Request> Interface::*channel, Request request) {
    REPLY_TYPE(Request) first = wait((interf.*channel).getReply(request));
    ASSERT(first == REPLY_TYPE(Request)(first));
    resetReply(request);
    REPLY_TYPE(Request) second = wait((interf.*channel).getReply(request));
    return second;
}

ACTOR Future<Void> ask(AdderInterface interf, const char* where) {
    int sum = wait(interf.add.getReply(AddRequest(2, 3)));
    printf("%s: %d\n", where, sum);
    ErrorOr<int> failed = wait(interf.add.tryGetReply(AddRequest(-1, 0)));
    printf("%s: %s\n", where, failed.getError().name());
    ErrorOr<int> broken = wait(interf.add.getReplyUnlessFailedFor(AddRequest(1, -1), 1.0, 0));
    printf("%s: %s\n", where, broken.getError().name());
    state std::vector<AdderInterface> alternatives;
    alternatives.push_back(interf);
    int balanced = wait(loadBalance(makeReference<MultiInterface<AdderInterface>>(alternatives), &AdderInterface::add,
                                    AddRequest(4, 5)));
    printf("%s: %d\n", where, balanced);
    choose {
        when(int twice = wait(brokenPromiseToNever(askTwice(interf, &AdderInterface::add, AddRequest(6, 7))))) {
            printf("%s: %d\n", where, twice);
        }
        when(wait(delay(60.0))) {
            throw timed_out();
        }
    }
    int counted = wait(total(interf, 100));
    printf("%s: %d\n", where, counted);
    int served = wait(askTwice(interf, &AdderInterface::served, ReplyPromise<int>()));
    printf("%s: served %d\n", where, served);
    return Void();
}

ACTOR Future<Void> test() {
    state AdderInterface here;
    state Future<Void> adding = adder(here);
    wait(ask(here, "here"));
    here.add.getEndpoint(TaskPriority::DefaultEndpoint);
    // As another process sees it.
    state Endpoint endpoint = here.add.getEndpoint();
    endpoint.addresses.address = NetworkAddress::parse(
        format("127.0.0.1:%d", FlowTransport::transport().getLocalAddress().port()));
    state AdderInterface there;
    there.add = RequestStream<AddRequest>(endpoint);
    Endpoint counting = here.count.getEndpoint();
    counting.addresses = endpoint.addresses;
    there.count = RequestStream<CountRequest>(counting);
    Endpoint served = here.served.getEndpoint();
    served.addresses = endpoint.addresses;
    there.served = RequestStream<ReplyPromise<int>>(served);
    ASSERT(IFailureMonitor::failureMonitor().getState(endpoint).isAvailable());
    wait(ask(there, "there"));
    return Void();
}

ACTOR Future<Void> dropFirst(FutureStream<AddRequest> requests) {
    AddRequest dropped = waitNext(requests);
    (void)dropped;
    return Void();
}
ACTOR Future<Void> answerNext(FutureStream<AddRequest> requests) {
    wait(dropFirst(requests));
    AddRequest next = waitNext(requests);
    next.reply.send(next.a + next.b);
    return Void();
}

ACTOR Future<Void> repeated() {
    state RequestStream<AddRequest> stream;
    state Future<Void> answering = answerNext(stream.getFuture());
    int sum = wait(retryBrokenPromise(stream, AddRequest(2, 3)));
    ASSERT(sum == 5);
    state Promise<Void> signal;
    ErrorOr<int> value = wait(waitValueOrSignal(Future<int>(4), signal.getFuture(), Endpoint(), ReplyPromise<int>()));
    ASSERT(value.get() == 4);
    state Future<ErrorOr<int>> broken =
        waitValueOrSignal(Future<int>(broken_promise()), signal.getFuture(), stream.getEndpoint(), ReplyPromise<int>());
    ASSERT(!broken.isReady() && IFailureMonitor::failureMonitor().onlyEndpointFailed(stream.getEndpoint()));
    signal.send(Void());
    ErrorOr<int> lost = wait(broken);
    ASSERT(lost.isError(error_code_request_maybe_delivered));
    return Void();
}

ACTOR Future<Void> counters() {
    state flow::TraceMemory trace;
    state CounterCollection stats("Server", "1");
    state Counter requests("Requests", stats);
    state Future<Void> shown = stats.traceCounters("ServerStats", UID(1, 2), 0.05, "ServerStats",
                                                   [](TraceEvent& event) { event.detail("More", 7); });
    specialCounter(stats, "Answer", [] { return 42; });
    ++requests;
    requests += 9;
    ASSERT(requests.getValue() == 10 && requests.getIntervalDelta() == 10 && requests.getRate() >= 0);
    wait(delay(0.08));
    ASSERT(trace.lines().size() == 1 && requests.getIntervalDelta() == 0 && requests.getValue() == 10);
    std::string line = trace.lines()[0];
    ASSERT(line.find("ServerStats") != std::string::npos && line.find(" 10\"") != std::string::npos);
    ASSERT(line.find("42") != std::string::npos && line.find("More") != std::string::npos);
    requests.clear();
    ASSERT(requests.getValue() == 0 && requests.getRoughness() == -1);
    return Void();
}

struct Timed : TimedRequest {
    int number = 0;
};

static void smoothers() {
    Smoother bytes(5.0);
    bytes.addDelta(4096, 100);
    ASSERT(bytes.smoothTotal(100) == 0 && std::abs(bytes.smoothRate(100) - 819.2) < 1e-9);
    ASSERT(std::abs(bytes.smoothTotal(105) - 4096 * (1 - std::exp(-1))) < 1e-9);
    bytes.setTotal(1000, 105);
    ASSERT(std::abs(bytes.smoothTotal(1000) - 1000) < 1e-6);
    bytes.reset(7);
    ASSERT(bytes.smoothTotal(200) == 7 && bytes.smoothRate(200) == 0);
    TimerSmoother clocked(1e9);
    clocked.setTotal(5);
    ASSERT(clocked.smoothTotal() >= 0 && clocked.smoothTotal() < 1);
    double before = timer();
    Timed request;
    ASSERT(request.requestTime() >= before && request.requestTime() <= timer());
    request.setRequestTime(3);
    ASSERT(Timed(request).requestTime() == 3);
}

static void addresses() {
    NetworkAddress address = NetworkAddress::parse("10.0.0.1:4500:tls(fromHostname)");
    ASSERT(address.ip == IPAddress(0x0A000001) && address.port == 4500 && address.isTLS() && address.fromHostname);
    ASSERT(address.toString() == "10.0.0.1:4500:tls(fromHostname)");
    ASSERT(NetworkAddress::parse("[::1]:7").isV6() && !NetworkAddress::parseOptional("nonsense").present());
    ASSERT(NetworkAddress::parseList("1.2.3.4:5,[::1]:6").size() == 2);
    ASSERT(!NetworkAddress().isValid() && !NetworkAddress(0x01020304, 5).isPublic());
    ASSERT(NetworkAddress(0x01020304, 5) < NetworkAddress(0x01020304, 6));
    ASSERT(IPAddress::parse("::1").get().isV6() && IPAddress::parse("1.2.3.4").get().toV4() == 0x01020304);
    ASSERT(!IPAddress::parse("1.2.3").present() && !IPAddress().isValid());
    auto copy = ObjectReader::fromStringRef<NetworkAddress>(ObjectWriter::toValue(address, IncludeVersion()),
                                                            IncludeVersion());
    ASSERT(copy == address && std::hash<NetworkAddress>()(copy) == std::hash<NetworkAddress>()(address));
    ASSERT(fmt::format("{} {}", address.ip, NetworkAddress(0x01020304, 5)) == "10.0.0.1 1.2.3.4:5");
    printf("addresses\n");
}

int main() {
    platformInit();
    addresses();
    smoothers();
    g_network = newNet2(TLSConfig());
    FlowTransport::createInstance(false, 0, WLTOKEN_FIRST_AVAILABLE);
    NetworkAddress any = NetworkAddress::parse("0.0.0.0:0");
    auto listening = FlowTransport::transport().bind(any, any);
    ASSERT(!listening.isReady());
    Future<Void> done = stopAfter(test() && repeated() && counters());
    g_network->run();
    done.get();
    return 0;
}
