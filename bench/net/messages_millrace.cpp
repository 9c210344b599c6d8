// What Millrace makes of a job of messages_bench.

#include "bench/net/messages.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/message/message_socket.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace bench {
namespace {

using namespace flow;
using namespace flow::net;

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
    if (job.isRoundTrips()) {
        for (std::uint64_t i = 0; i < job.count; ++i) {
            Message message = co_await router.receive();
            co_await router.send(message);
        }
    } else {
        for (std::uint64_t i = 0; i < job.count; ++i) {
            Message message = co_await router.receive();
            if (message.bytes() != job.bytes)
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
    if (job.isRoundTrips()) {
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
    auto take = [](MessageSocket* sub, std::uint64_t count) -> Future<Void> {
        for (std::uint64_t i = 0; i < count; ++i) {
            Message message = co_await sub->receive();
            if (message.bytes() == 1)
                --i;
        }
    };
    for (auto& each : subs)
        all.push_back(take(each.get(), job.count));
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

/// Both sockets are on one loop: inproc:// connects no others.
Future<Void> sendInside(Job const& job) {
    MessageSocket pull(SocketType::Pull, optionsOf(job, "")), push(SocketType::Push, optionsOf(job, ""));
    push.connect(pull.bind("inproc://messages"));
    while (push.peers() == 0)
        co_await delay(0.001);
    auto takeAll = [](Job const& job, MessageSocket* pull) -> Future<Void> {
        for (std::uint64_t i = 0; i < job.count; ++i) {
            Message message = co_await pull->receive();
            if (message.bytes() != job.bytes)
                std::abort();
        }
    };
    Future<Void> taking = takeAll(job, &pull);
    std::string body(job.bytes, 'x');
    measured.start();
    for (std::uint64_t i = 0; i < job.count; ++i) {
        co_await push.sendBytes(body);
        if (i % 100 == 99)
            co_await yield();
    }
    co_await taking;
    measured.stop();
}

} // namespace

void runMillrace(Job const& job) {
    if (job.pattern == "inproc") {
        RealLoop loop;
        return loop.run(sendInside(job));
    }
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

} // namespace bench
