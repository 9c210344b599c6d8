// What libzmq makes of a job of messages_bench.

#include "bench/net/messages.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#if MILLRACE_ZMQ
#include <zmq.h>
#endif

namespace bench {

#if MILLRACE_ZMQ
namespace {

void check(bool works) {
    if (!works) {
        std::fprintf(stderr, "libzmq: %s\n", zmq_strerror(zmq_errno()));
        std::abort();
    }
}

void* zmqSocket(void* context, int type, std::string const& name) {
    void* socket = zmq_socket(context, type);
    int mark = type == ZMQ_XPUB || type == ZMQ_SUB ? 0 : 100'000, mandatory = 1;
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

std::string bindTo(void* socket, char const* endpoint) {
    check(zmq_bind(socket, endpoint) == 0);
    char text[64];
    std::size_t size = sizeof text;
    check(zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, text, &size) == 0);
    return text;
}

void routeBoth(Job const& job, void* context) {
    Meeting meeting;
    std::thread bound([&] {
        void* router = zmqSocket(context, ZMQ_ROUTER, "ROUTER1");
        meeting.endpoint = bindTo(router, "tcp://127.0.0.1:*");
        meeting.reach(1);
        zmq_msg_t message;
        zmq_msg_init(&message);
        zmqReceive(router, message);
        zmqSend(router, "ROUTER2", "hello");
        std::string body(job.bytes, 'x');
        for (std::uint64_t i = 0; i < job.count; ++i) {
            if (zmqReceive(router, message) != job.bytes)
                std::abort();
            if (job.isRoundTrips())
                zmqSend(router, "ROUTER2", body);
        }
        if (!job.isRoundTrips())
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
        if (job.isRoundTrips()) {
            zmqReceive(router, message);
            measured.trips.push_back(seconds(since));
        }
    }
    if (job.isRoundTrips())
        measured.stop();
    zmqReceive(router, message);
    bound.join();
    zmq_msg_close(&message);
    zmq_close(router);
}

/// From many DEALERs, of one thread, to one ROUTER.
void sendFromMany(Job const& job, void* context) {
    Meeting meeting;
    std::thread receiver([&] {
        void* router = zmqSocket(context, ZMQ_ROUTER, "");
        meeting.endpoint = bindTo(router, "tcp://127.0.0.1:*");
        meeting.reach(1);
        zmq_msg_t message;
        zmq_msg_init(&message);
        for (int i = 0; i < job.peers; ++i)
            zmqReceive(router, message);
        meeting.reach(2); // all are connected
        for (std::uint64_t i = 0; i < job.count; ++i)
            if (zmqReceive(router, message) != job.bytes)
                std::abort();
        measured.stop();
        zmq_msg_close(&message);
        zmq_close(router);
    });
    meeting.await(1);
    std::vector<void*> peers;
    for (int i = 0; i < job.peers; ++i) {
        peers.push_back(zmqSocket(context, ZMQ_DEALER, ""));
        check(zmq_connect(peers.back(), meeting.endpoint.c_str()) == 0);
        check(zmq_send(peers.back(), "hello", 5, 0) >= 0);
    }
    meeting.await(2);
    std::string body(job.bytes, 'x');
    measured.start();
    constexpr std::uint64_t kBurst = 100;
    for (std::uint64_t i = 0, peer = 0; i < job.count; peer = (peer + 1) % peers.size())
        for (std::uint64_t end = std::min(i + kBurst, job.count); i < end; ++i)
            check(zmq_send(peers[peer], body.data(), body.size(), 0) >= 0);
    receiver.join();
    for (void* each : peers)
        zmq_close(each);
}

/// To many SUBs, of one thread.
void publishToMany(Job const& job, void* context) {
    Meeting meeting;
    std::thread publisher([&] {
        void* pub = zmqSocket(context, ZMQ_XPUB, "");
        int verbose = 1; // a subscription of each
        check(zmq_setsockopt(pub, ZMQ_XPUB_VERBOSE, &verbose, sizeof verbose) == 0);
        meeting.endpoint = bindTo(pub, "tcp://127.0.0.1:*");
        meeting.reach(1);
        char subscription[2];
        for (int i = 0; i < job.peers; ++i)
            check(zmq_recv(pub, subscription, sizeof subscription, 0) == 1);
        std::string body(job.bytes, 'x');
        measured.start();
        for (std::uint64_t i = 0; i < job.count; ++i)
            check(zmq_send(pub, body.data(), body.size(), 0) >= 0);
        meeting.await(2);
        zmq_close(pub);
    });
    meeting.await(1);
    std::vector<void*> subs;
    for (int i = 0; i < job.peers; ++i) {
        subs.push_back(zmqSocket(context, ZMQ_SUB, ""));
        check(zmq_setsockopt(subs.back(), ZMQ_SUBSCRIBE, "", 0) == 0);
        check(zmq_connect(subs.back(), meeting.endpoint.c_str()) == 0);
    }
    std::string body(job.bytes, '\0');
    for (std::uint64_t i = 0; i < job.count; ++i)
        for (void* each : subs)
            check(zmq_recv(each, body.data(), body.size(), 0) == static_cast<int>(job.bytes));
    measured.stop();
    meeting.reach(2);
    publisher.join();
    for (void* each : subs)
        zmq_close(each);
}

/// From one thread to another, without a system call for each message.
void sendInside(Job const& job, void* context) {
    void* pull = zmqSocket(context, ZMQ_PULL, "");
    check(zmq_bind(pull, "inproc://messages") == 0);
    std::thread sender([&] {
        void* push = zmqSocket(context, ZMQ_PUSH, "");
        check(zmq_connect(push, "inproc://messages") == 0);
        std::string body(job.bytes, 'x');
        measured.start();
        for (std::uint64_t i = 0; i < job.count; ++i)
            check(zmq_send(push, body.data(), body.size(), 0) >= 0);
        zmq_close(push);
    });
    zmq_msg_t message;
    zmq_msg_init(&message);
    for (std::uint64_t i = 0; i < job.count; ++i) {
        check(zmq_msg_recv(&message, pull, 0) >= 0);
        if (zmq_msg_size(&message) != job.bytes)
            std::abort();
    }
    measured.stop();
    sender.join();
    zmq_msg_close(&message);
    zmq_close(pull);
}

} // namespace

void runZmq(Job const& job) {
    void* context = zmq_ctx_new();
    check(zmq_ctx_set(context, ZMQ_MAX_SOCKETS, 4096) == 0);
    if (job.pattern == "inproc")
        sendInside(job, context);
    else if (job.pattern.starts_with("pub-"))
        publishToMany(job, context);
    else if (job.pattern.starts_with("peers-"))
        sendFromMany(job, context);
    else
        routeBoth(job, context);
    zmq_ctx_term(context);
}

#else
void runZmq(Job const&) {
    std::fprintf(stderr, "messages_bench was built without libzmq\n");
    std::exit(3);
}
#endif

} // namespace bench
