// Two ROUTER sockets over loopback TCP, a thread and a loop each: what Millrace and libzmq make of the same messages.
//
//     messages_bench millrace|libzmq PATTERN BYTES COUNT [STRATEGY] [count-allocations]
//
// PATTERN is router-router (COUNT messages one way), router-router-future (the same with a Future a send),
// round-trips (COUNT of them), pub-N (to N subscribers) or peers-N (from N peers). Prints one line of JSON. tools/bench
// messages runs it.

#include "flow/base/parse_number.h"
#include "flow/flow.h"
#include "net/message/message_socket.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#if MILLRACE_ZMQ
#include <zmq.h>
#endif

namespace {
std::atomic<std::uint64_t> allocations{0}, receives{0}, emptyReceives{0};
bool countsAllocations = false;
} // namespace

// Both libraries come here, so that they are counted alike.
extern "C" {
void* __libc_malloc(std::size_t);
void* malloc(std::size_t bytes) {
    if (countsAllocations)
        allocations.fetch_add(1, std::memory_order_relaxed);
    return __libc_malloc(bytes);
}
ssize_t recv(int descriptor, void* to, std::size_t bytes, int flags) {
    auto count = static_cast<ssize_t>(::syscall(SYS_recvfrom, descriptor, to, bytes, flags, nullptr, nullptr));
    receives.fetch_add(1, std::memory_order_relaxed);
    if (count < 0 && errno == EAGAIN)
        emptyReceives.fetch_add(1, std::memory_order_relaxed);
    return count;
}
}

namespace {

using namespace flow;
using namespace flow::net;
using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
}

struct Job {
    std::string library, pattern;
    std::size_t bytes = 0;
    std::uint64_t count = 0;
    ReadStrategy strategy = ReadStrategy::Adaptive;
    int peers = 1;
};

double processorSeconds() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    auto of = [](timeval time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; };
    return of(used.ru_utime) + of(used.ru_stime);
}

/// Of the part that is measured.
class Measured {
public:
    void start() {
        allocations_ = allocations;
        receives_ = receives;
        empty_ = emptyReceives;
        processor_ = processorSeconds();
        since_ = Clock::now();
    }
    void stop() {
        took_ = seconds(since_);
        processor_ = processorSeconds() - processor_;
        allocations_ = allocations - allocations_;
        receives_ = receives - receives_;
        empty_ = emptyReceives - empty_;
    }
    std::vector<double> trips; // seconds

    void print(std::uint64_t items) {
        auto perItem = [&](auto number) { return static_cast<double>(number) / static_cast<double>(items); };
        std::printf("{\"items_per_second\": %.1f, \"receive_calls_per_item\": %.6f, \"eagain_per_item\": %.6f, "
                    "\"receive_calls\": %llu, \"eagain\": %llu, \"cpu_ns_per_item\": %.2f",
                    static_cast<double>(items) / took_, perItem(receives_), perItem(empty_),
                    static_cast<unsigned long long>(receives_), static_cast<unsigned long long>(empty_),
                    perItem(processor_) * 1e9);
        if (countsAllocations)
            std::printf(", \"allocs_per_item\": %.6f", perItem(allocations_));
        if (!trips.empty()) {
            std::sort(trips.begin(), trips.end());
            std::printf(", \"p50_us\": %.2f, \"p99_us\": %.2f", trips[trips.size() / 2] * 1e6,
                        trips[trips.size() * 99 / 100] * 1e6);
        }
        std::printf("}\n");
    }

private:
    std::uint64_t allocations_ = 0, receives_ = 0, empty_ = 0;
    double processor_ = 0, took_ = 0;
    Clock::time_point since_;
};

Measured measured;

/// What one thread says to the other.
struct Meeting {
    std::string endpoint;
    std::atomic<int> step{0};
    void reach(int what) {
        step = what;
        step.notify_all();
    }
    void await(int what) {
        for (int now = step; now < what; now = step)
            step.wait(now);
    }
};

// -------------------------------------------------------------------------------------------------------------------
// Millrace

MessageOptions optionsOf(Job const& job, std::string name) {
    MessageOptions options;
    options.routingId = std::move(name);
    options.routerMandatory = true;
    options.readStrategy = job.strategy;
    options.sndHwm = 100'000;
    return options;
}

Future<Void> receiveAll(Job const& job, Meeting& meeting) {
    MessageSocket router(SocketType::Router, optionsOf(job, "ROUTER1"));
    meeting.endpoint = router.bind("tcp://127.0.0.1:*");
    meeting.reach(1);
    for (int i = 0; i < job.peers; ++i) { // the handshake, drained
        Message hello = co_await router.receive();
        co_await router.send(hello);
    }
    if (job.pattern == "round-trips") {
        for (std::uint64_t i = 0; i < job.count; ++i) {
            Message message = co_await router.receive();
            co_await router.send(message);
        }
    } else {
        for (std::uint64_t i = 0; i < job.count; ++i) {
            Message message = co_await router.receive();
            if (message.size() != job.bytes)
                std::abort();
        }
        measured.stop();
    }
    co_await router.sendBytesTo("ROUTER2", "end");
    co_await router.close(10);
}

Future<Void> sendAll(Job const& job, Meeting& meeting) {
    MessageSocket router(SocketType::Router, optionsOf(job, "ROUTER2"));
    router.connect(meeting.endpoint);
    while (router.peers() == 0)
        co_await delay(0.001);
    co_await router.sendBytesTo("ROUTER1", "hello");
    (void)co_await router.receive();
    std::string body(job.bytes, 'x');
    Message large = Message::to("ROUTER1").add(body);
    co_await delay(0.05);
    measured.start();
    if (job.pattern == "round-trips") {
        measured.trips.reserve(job.count);
        for (std::uint64_t i = 0; i < job.count; ++i) {
            auto since = Clock::now();
            co_await router.sendBytesTo("ROUTER1", body);
            (void)co_await router.receive();
            measured.trips.push_back(seconds(since));
        }
        measured.stop();
    } else if (job.pattern == "router-router-future") {
        for (std::uint64_t i = 0; i < job.count; ++i)
            co_await keep(router.sendBytesTo("ROUTER1", body));
    } else if (job.bytes >= 32 * 1024) {
        for (std::uint64_t i = 0; i < job.count; ++i) {
            Message message = large;
            co_await router.send(message);
        }
    } else {
        for (std::uint64_t i = 0; i < job.count; ++i)
            co_await router.sendBytesTo("ROUTER1", body);
    }
    (void)co_await router.receive();
    co_await router.close(10);
}

/// Many peers, which are all on one loop, of one ROUTER.
Future<Void> sendFromMany(Job const& job, Meeting& meeting) {
    std::vector<std::unique_ptr<MessageSocket>> peers;
    for (int i = 0; i < job.peers; ++i) {
        peers.push_back(std::make_unique<MessageSocket>(
            SocketType::Dealer, optionsOf(job, i == 0 ? std::string("ROUTER2") : "PEER" + std::to_string(i))));
        peers.back()->connect(meeting.endpoint);
        co_await peers.back()->sendBytes("hello");
        (void)co_await peers.back()->receive();
    }
    std::string body(job.bytes, 'x');
    co_await delay(0.05);
    measured.start();
    constexpr std::uint64_t kBurst = 100;
    for (std::uint64_t i = 0, peer = 0; i < job.count; peer = (peer + 1) % peers.size()) {
        for (std::uint64_t end = std::min(i + kBurst, job.count); i < end; ++i)
            co_await peers[peer]->sendBytes(body);
        co_await yield();
    }
    (void)co_await peers[0]->receive();
    for (auto& each : peers)
        co_await each->close(10);
}

Future<Void> subscribeAll(Job const& job, Meeting& meeting) {
    std::vector<std::unique_ptr<MessageSocket>> subs;
    for (int i = 0; i < job.peers; ++i) {
        subs.push_back(std::make_unique<MessageSocket>(SocketType::Sub, optionsOf(job, "")));
        subs.back()->subscribe("");
        subs.back()->connect(meeting.endpoint);
    }
    for (auto& each : subs)
        (void)co_await each->receive(); // all are there
    meeting.reach(2);
    std::vector<Future<Void>> all;
    auto take = [](MessageSocket& sub, std::uint64_t count) -> Future<Void> {
        for (std::uint64_t i = 0; i < count; ++i) {
            Message message = co_await sub.receive();
            if (message.size() == 1)
                --i;
        }
    };
    for (auto& each : subs)
        all.push_back(take(*each, job.count));
    for (auto& each : all)
        co_await each;
    measured.stop();
}

Future<Void> publishAll(Job const& job, Meeting& meeting) {
    MessageOptions options = optionsOf(job, "");
    options.sndHwm = 0;
    options.sndHwmBytes = 0;
    MessageSocket pub(SocketType::Pub, options);
    meeting.endpoint = pub.bind("tcp://127.0.0.1:*");
    meeting.reach(1);
    while (meeting.step < 2) {
        co_await pub.sendBytes("x");
        co_await delay(0.001);
    }
    std::string body(job.bytes, 'x');
    co_await delay(0.05);
    measured.start();
    for (std::uint64_t i = 0; i < job.count; ++i) {
        co_await pub.sendBytes(body);
        if (i % 100 == 99)
            co_await yield();
    }
    co_await pub.close(60);
}

void runMillrace(Job const& job) {
    Meeting meeting;
    bool publishes = job.pattern.starts_with("pub-");
    std::thread bound([&] {
        RealLoop loop;
        loop.run(publishes ? publishAll(job, meeting) : receiveAll(job, meeting));
    });
    meeting.await(1);
    {
        RealLoop loop;
        loop.run(publishes                          ? subscribeAll(job, meeting)
                 : job.pattern.starts_with("peers") ? sendFromMany(job, meeting)
                                                    : sendAll(job, meeting));
    }
    bound.join();
}

// -------------------------------------------------------------------------------------------------------------------
// libzmq

#if MILLRACE_ZMQ

void check(bool works) {
    if (!works) {
        std::fprintf(stderr, "libzmq: %s\n", zmq_strerror(zmq_errno()));
        std::abort();
    }
}

void* zmqSocket(void* context, int type, std::string const& name) {
    void* socket = zmq_socket(context, type);
    int mark = 100'000, mandatory = 1;
    zmq_setsockopt(socket, ZMQ_SNDHWM, &mark, sizeof mark);
    zmq_setsockopt(socket, ZMQ_RCVHWM, &mark, sizeof mark);
    if (!name.empty())
        check(zmq_setsockopt(socket, ZMQ_ROUTING_ID, name.data(), name.size()) == 0);
    if (type == ZMQ_ROUTER)
        check(zmq_setsockopt(socket, ZMQ_ROUTER_MANDATORY, &mandatory, sizeof mandatory) == 0);
    return socket;
}

void zmqSend(void* socket, char const* id, std::string const& body) {
    check(zmq_send(socket, id, std::strlen(id), ZMQ_SNDMORE) >= 0);
    check(zmq_send(socket, body.data(), body.size(), 0) >= 0);
}

/// The bytes of the body.
std::size_t zmqReceive(void* socket, zmq_msg_t& message) {
    check(zmq_msg_recv(&message, socket, 0) >= 0); // the routing id
    check(zmq_msg_recv(&message, socket, 0) >= 0);
    return zmq_msg_size(&message);
}

void runZmq(Job const& job) {
    void* context = zmq_ctx_new();
    Meeting meeting;
    std::thread bound([&] {
        void* router = zmqSocket(context, ZMQ_ROUTER, "ROUTER1");
        check(zmq_bind(router, "tcp://127.0.0.1:*") == 0);
        char endpoint[64];
        std::size_t size = sizeof endpoint;
        check(zmq_getsockopt(router, ZMQ_LAST_ENDPOINT, endpoint, &size) == 0);
        meeting.endpoint = endpoint;
        meeting.reach(1);
        zmq_msg_t message;
        zmq_msg_init(&message);
        zmqReceive(router, message);
        zmqSend(router, "ROUTER2", "hello");
        std::string body(job.bytes, 'x');
        for (std::uint64_t i = 0; i < job.count; ++i) {
            if (zmqReceive(router, message) != job.bytes)
                std::abort();
            if (job.pattern == "round-trips")
                zmqSend(router, "ROUTER2", body);
        }
        if (job.pattern != "round-trips")
            measured.stop();
        zmqSend(router, "ROUTER2", "end");
        zmq_msg_close(&message);
        zmq_close(router);
    });
    meeting.await(1);
    void* router = zmqSocket(context, ZMQ_ROUTER, "ROUTER2");
    check(zmq_connect(router, meeting.endpoint.c_str()) == 0);
    while (zmq_send(router, "ROUTER1", 7, ZMQ_SNDMORE) < 0)
        ::usleep(1000);
    check(zmq_send(router, "hello", 5, 0) >= 0);
    zmq_msg_t message;
    zmq_msg_init(&message);
    zmqReceive(router, message);
    std::string body(job.bytes, 'x');
    ::usleep(50'000);
    measured.start();
    for (std::uint64_t i = 0; i < job.count; ++i) {
        auto since = Clock::now();
        zmqSend(router, "ROUTER1", body);
        if (job.pattern == "round-trips") {
            zmqReceive(router, message);
            measured.trips.push_back(seconds(since));
        }
    }
    if (job.pattern == "round-trips")
        measured.stop();
    zmqReceive(router, message);
    bound.join();
    zmq_msg_close(&message);
    zmq_close(router);
    zmq_ctx_term(context);
}

#else
void runZmq(Job const&) {
    std::fprintf(stderr, "messages_bench was built without libzmq\n");
    std::exit(3);
}
#endif

int usage() {
    std::fprintf(stderr, "usage: messages_bench millrace|libzmq PATTERN BYTES COUNT [STRATEGY] [count-allocations]\n");
    return 2;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 5)
        return usage();
    Job job;
    job.library = argv[1];
    job.pattern = argv[2];
    auto bytes = parseNumber<std::uint32_t>(argv[3]);
    auto count = parseNumber<std::uint64_t>(argv[4]);
    if (!bytes || !count || *count == 0)
        return usage();
    job.bytes = *bytes;
    job.count = *count;
    for (char const* prefix : {"peers-", "pub-"})
        if (job.pattern.starts_with(prefix))
            job.peers = parseNumber<int>(job.pattern.substr(std::strlen(prefix))).value_or(1);
    for (int i = 5; i < argc; ++i) {
        std::string_view word = argv[i];
        if (word == "count-allocations")
            countsAllocations = true;
        else if (word == "speculative")
            job.strategy = ReadStrategy::Speculative;
        else if (word == "reactive")
            job.strategy = ReadStrategy::Reactive;
        else if (word != "adaptive")
            return usage();
    }
    job.library == "libzmq" ? runZmq(job) : runMillrace(job);
    measured.print(job.count * (job.pattern.starts_with("pub-") ? static_cast<std::uint64_t>(job.peers) : 1));
}
