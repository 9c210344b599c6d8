// The server of the simulation "adversary".

#include "net/http/server.h"
#include "flow/combine/race.h"
#include "flow/compat/wait_for_all.h"
#include "flow/core/detail/turn_budget.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/step_watch.h"
#include "flow/wait/delay.h"
#include "net/examples/echo.h"
#include "net/http/static_files.h"
#include "net/serve.h"
#include "tests/sim/adversary/run.h"

#include <utility>
#include <vector>

using namespace flow;
using namespace flow::net;

namespace adversary {
namespace {

/// Bounds the messages that the services take in one turn of the server's loop.
class Turns final : StepWatch {
public:
    explicit Turns(Run& run) : run_(run), loop_(Loop::current()) { loop_.add(*this); }
    Turns(Turns const&) = delete;
    Turns& operator=(Turns const&) = delete;
    ~Turns() { loop_.remove(*this); }

private:
    static constexpr int kTasks = 64; // each task that was woken has an operation as well

    void turnBegins() noexcept override {
        if (std::exchange(run_.messages, 0) > TurnBudget::kOperations + kTasks)
            run_.world.fail("the services take too many messages in one turn of the loop");
    }
    void begins(WaiterNode*, TaskPriority) noexcept override {}

    Run& run_;
    Loop& loop_;
};

/// Ready when the server is to end.
Future<Void> ending(Run& run) {
    while (!run.isEnding)
        co_await delay(0.02);
}

Future<Void> serveEcho(Run& run, Reference<Connection> client, Event* end) {
    Child child(run);
    co_await echo(client, end);
}

Future<http::Response> answer(Run& run, http::StaticFiles const& files, http::Request request) {
    Child child(run);
    co_return co_await files(std::move(request));
}

Future<Void> serveSite(Run& run) {
    http::StaticFiles files(run.directory);
    http::ServerOptions options;
    options.idle = options.headerTime = options.bodyTime = options.writeTime = kIdle;
    options.grace = kGrace;
    auto handler = [&run, &files](http::Request request) { return answer(run, files, std::move(request)); };
    Future<Void> serving = http::serve(transport().listen(kHttp), handler, options, ending(run));
    co_await std::move(serving);
}

/// Sends each message back. It waits for no peer: a peer that does not read loses answers.
Future<Void> route(Run& run) {
    MessageSocket router(SocketType::Router, messageOptions());
    router.bind(endpoint(Address(), kRouter));
    for (;;) {
        Message message = co_await router.receive();
        ++run.messages;
        (void)router.trySend(message);
    }
}

Future<Void> reply(Run& run) {
    MessageSocket rep(SocketType::Rep, messageOptions());
    rep.bind(endpoint(Address(), kRep));
    for (;;) {
        Message question = co_await rep.receive();
        ++run.messages;
        co_await rep.send(question);
    }
}

Future<Void> publish(Run& run) {
    MessageSocket pub(SocketType::Pub, messageOptions());
    pub.bind(endpoint(Address(), kPub));
    for (;;) {
        Message message("news");
        message.add(std::to_string(++run.published));
        co_await pub.send(message);
        co_await delay(0.05);
    }
}

/// Takes long for each message.
Future<Void> pull() {
    MessageSocket pull(SocketType::Pull, messageOptions());
    pull.bind(endpoint(Address(), kPull));
    for (;;) {
        Message message = co_await pull.receive();
        co_await delay(0.1);
    }
}

/// A time in which the other side of a connection may change.
Future<Void> think() {
    if (deterministicRandom()->random01() < 0.2)
        co_await delay(0.1 * deterministicRandom()->random01());
}

/// A question starts with the name of its sender.
Future<Void> routeToOwners(Run& run) {
    MessageSocket router(SocketType::Router, messageOptions());
    router.connect(endpoint(run.turncoat, kOwnedRouter));
    for (;;) {
        Message question = co_await router.receive();
        std::string_view text = question[0];
        if (question.routingId() != text.substr(0, text.find(' ')))
            run.world.fail("ROUTER: a question has the name of another owner of the address");
        co_await think();
        (void)router.trySend(question);
    }
}

Future<Void> replyToOwners(Run& run) {
    MessageSocket rep(SocketType::Rep, messageOptions());
    rep.connect(endpoint(run.turncoat, kOwnedRep));
    for (;;) {
        Message question = co_await rep.receive();
        co_await think();
        co_await rep.send(question);
    }
}

/// Attackers send answers, too: the server must not take them.
Future<Void> askAbroad(Run& run) {
    RequestStream<Ask> stream(Endpoint::wellKnown({run.turncoat.withPort(kRpc), {}}, kAsk));
    for (int number = 0;; ++number) {
        Ask ask;
        ask.text = std::to_string(number);
        std::string answer = co_await stream.getReply(std::move(ask));
        if (answer != std::to_string(number))
            run.world.fail("rpc: an answer of somebody who was not asked");
    }
}

Future<Void> answerAll(Run& run) {
    RpcOptions options;
    options.largestMessage = kLargestRequest;
    options.unsentBytes = 128 << 10;
    options.backlogBytes = 1 << 20;
    rpc::Node rpc(options);
    Future<Void> listening = rpc.bind(Address(), run.server.withPort(kRpc));
    RequestStream<Ask> asked;
    asked.makeWellKnownEndpoint(kAsk, TaskPriority::DefaultEndpoint);
    Future<Void> asking = askAbroad(run);
    for (;;) {
        Ask ask = co_await asked.getFuture();
        if (ask.wide.size() * sizeof(Wide) > 20 * kLargestRequest)
            run.world.fail("attackers make the server hold too much in one request");
        ask.reply.send(ask.text);
    }
}

/// The services that do not end.
Future<Void> forEver(Run& run) {
    std::vector<Future<Void>> all;
    all.push_back(route(run));
    all.push_back(reply(run));
    all.push_back(publish(run));
    all.push_back(pull());
    all.push_back(routeToOwners(run));
    all.push_back(replyToOwners(run));
    all.push_back(answerAll(run));
    co_await waitForAll(all);
}

} // namespace

char letterAt(std::size_t place) {
    return static_cast<char>('a' + place % 23);
}

std::string endpoint(Address const& host, Port port) {
    return "tcp://" + (host == Address() ? "*:" + std::to_string(port) : host.withPort(port).toString());
}

MessageOptions messageOptions(std::string routingId) {
    MessageOptions options;
    options.routingId = std::move(routingId);
    options.sndHwm = options.rcvHwm = 100;
    options.sndHwmBytes = 256 << 10;
    options.reconnectIvl = 0.02;
    options.reconnectIvlMax = 0.5;
    options.handshakeIvl = 3;
    options.limits.messageBytes = 512 << 10;
    options.limits.allTopicsBytes = 16 << 10;
    return options;
}

Future<Void> runServer(Run& run) {
    Parent parent(run);
    Turns turns(run);
    std::vector<Future<Void>> servers;
    servers.push_back(serveUntil(
        transport().listen(kEcho),
        [&run](Reference<Connection> client, Event* end) { return serveEcho(run, client, end); }, ending(run), kGrace));
    servers.push_back(serveSite(run));
    servers.push_back(serveUntil(
        transport().listen(kRefused), [](Reference<Connection>, Event*) -> Future<Void> { throw end_of_stream(); },
        ending(run), kGrace));
    Future<Void> others = forEver(run);
    auto first = co_await race(waitForAll(servers), others);
    (void)first;
}

} // namespace adversary
