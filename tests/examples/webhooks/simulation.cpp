// The service between senders and receivers, while the network, the disk and all programs fail as the seed says. No
// event that was answered with 202 may be lost: a receiver has got it, or it is a dead letter.

#include "flow/sim/simulation.h"
#include "flow/flow.h"
#include "flow/sim/disk.h"
#include "flow/sim/world.h"
#include "net/http/client.h"
#include "net/http/server.h"
#include "net/sim/sim_network.h"
#include "webhooks.h"

#include <algorithm>
#include <map>
#include <string>

using namespace flow;
using namespace flow::net;

namespace {

constexpr double kUnrest = 60, kPeace = 300; // seconds
constexpr int kReceivers = 3, kSenders = 2;

struct Run {
    std::string service;                          // its URL
    std::map<std::string, std::string> receivers; // URLs by name
    int posted = 0;
    std::map<std::string, std::string> accepted, delivered; // bodies by key
    std::string dead;                                       // the page, at the end
};

bool chance(double probability) {
    return deterministicRandom()->random01() < probability;
}

Future<Void> runService(Run* run) {
    WebhookOptions options{.receivers = run->receivers};
    options.retry = {.attempts = 6, .backoff = 0.5, .longest = 20};
    options.attemptTime = 5;
    for (;;) { // some lives end in order, and the next one begins
        Future<Void> stop = Never();
        if (chance(0.7))
            stop = delay(5 + 40 * deterministicRandom()->random01());
        Reference<Listener> listener = transport().listen(80);
        Reference<Outbox> outbox = co_await openJournal("/events");
        Future<Void> serving = serveWebhooks(listener, outbox, options, stop);
        co_await serving;
    }
}

Future<http::Response> receive(Run* run, http::Request request) {
    std::string key(request.headers.get("Idempotency-Key"));
    std::string body = co_await request.body.text(1 << 20);
    if (chance(0.05))
        co_await delay(10); // longer than an attempt may take
    http::Response response;
    if (chance(0.3))
        response.status = chance(0.1) ? 400 : 500;
    else
        run->delivered[key] = body;
    co_return std::move(response);
}

Future<Void> runReceiver(Run* run) {
    http::Handler handler = [run](http::Request request) { return receive(run, std::move(request)); };
    Future<Void> serving = http::serve(transport().listen(80), handler, {}, Never());
    co_await serving;
}

Future<Void> runSender(Run* run) {
    http::Client client({.timeout = 10});
    for (;;) {
        std::string body = format("event %d", run->posted++);
        body.resize(body.size() + deterministicRandom()->randomSkewedUInt32(1, 20'000), '.');
        std::string url = run->service + format("/events/receiver%d", deterministicRandom()->randomInt(0, kReceivers));
        http::Request request{.method = "POST"};
        if (chance(0.5))
            request.headers.add("Idempotency-Key", body.substr(0, body.find('.')));
        request.body = body;
        try {
            Future<http::Response> posting = client.send(std::move(request), url);
            http::Response response = co_await std::move(posting);
            if (response.status == 202) {
                std::string key = co_await response.body.text(1000);
                run->accepted[key.substr(0, key.size() - 1)] = body;
            }
        } catch (Error& error) {
            if (error == actor_cancelled())
                throw;
        }
        co_await delayJittered(0.2);
    }
}

Future<std::string> page(http::Client* client, std::string url) {
    Future<http::Response> asking = client->get(url);
    http::Response response = co_await std::move(asking);
    std::string text = co_await response.body.text(10 << 20);
    co_return text;
}

/// Waits until all events are delivered or dead.
Future<Void> watch(Run* run) {
    http::Client client;
    for (;;) {
        Future<std::string> asking = page(&client, run->service + "/dead");
        ErrorOr<std::string> dead = co_await tryGet(std::move(asking));
        Future<std::string> askingHealth = page(&client, run->service + "/health");
        ErrorOr<std::string> health = co_await tryGet(std::move(askingHealth));
        if (!dead.isError() && !health.isError()) {
            auto count = std::count(dead.get().begin(), dead.get().end(), '\n');
            if (health.get() == format("ok, %d events and dead letters\n", static_cast<int>(count))) {
                run->dead = dead.get();
                co_return;
            }
        }
        co_await delay(1);
    }
}

Future<Void> simulate(World& world) {
    Faults faults = world.faults();
    faults.messageCorruption = 0;                         // nothing in HTTP finds it
    faults.diskBitFlip = faults.diskMisdirectedWrite = 0; // they may damage both copies of the journal
    faults.allocationFailure = 0;                         // as in most programs, that ends in a restart
    faults.addressSwap = 0;                               // URLs have addresses
    world.setFaults(faults);
    SimNetwork network(world);
    Run run;
    auto urlOf = [](Process& process) { return "http://" + Address(process.address(), 80).toString(); };
    Process& service = world.add({.name = "service", .main = [&] { return runService(&run); }, .restartAfter = 0.5});
    service.attach<ProcessDisk>(world, DiskSpeed{.seconds = 0.0005});
    run.service = urlOf(service);
    for (int i = 0; i < kReceivers; ++i) {
        std::string name = format("receiver%d", i);
        run.receivers[name] = urlOf(world.start({.name = name, .main = [&] { return runReceiver(&run); }}));
    }
    world.start(service);
    std::vector<Process*> senders;
    for (int i = 0; i < kSenders; ++i)
        senders.push_back(&world.start({.name = format("sender%d", i), .main = [&] { return runSender(&run); }}));

    co_await delay(kUnrest * deterministicRandom()->random01());
    world.reboot(service, 1, true); // the power fails
    co_await delay(kUnrest * deterministicRandom()->random01());
    world.reboot(service); // kill -9
    co_await delay(kUnrest);
    world.disableFaults();
    network.heal();
    for (auto& process : world.processes()) {
        if (!process->isRunning())
            world.start(*process);
        world.resume(*process);
    }
    co_await delay(10);
    for (Process* sender : senders)
        world.kill(*sender);
    Process& watcher = world.start({.name = "watcher", .main = [&] { return watch(&run); }});
    Future<Void> watched = watcher.onStop();
    auto first = co_await race(watched, delay(kPeace));
    if (first.index() == 1)
        world.fail("in peace, not all events are delivered or dead letters");
    world.stopAll(); // their mains refer to what is here

    for (auto const& [key, body] : run.accepted) {
        auto got = run.delivered.find(key);
        if (got == run.delivered.end() && run.dead.find(" " + key + ": ") == std::string::npos)
            world.fail("an event is lost: " + key);
        if (got != run.delivered.end() && got->second != body)
            world.fail("an event has another body than before: " + key);
    }
    if (run.dead.find("cancel") != std::string::npos)
        world.fail("an end of the service makes dead letters\n" + run.dead);
    if (run.accepted.size() < 20)
        world.fail(format("only %zu events were accepted", run.accepted.size()));
}

Simulation const registered("webhooks", simulate);

} // namespace
