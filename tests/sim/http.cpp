// "http": a server of HTTP and three clients, while the network and the processes do whatever the seed gives them, and
// then in peace. The server dies in the middle of bodies, and ends in order now and then; clients stall, and drop
// requests. What must hold: an answer has exactly the bytes of its request, a body that was cut off is seen as cut off,
// and no POST is handled twice.
#include "flow/base/format.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/simulation.h"
#include "flow/sim/world.h"
#include "flow/trace/code_probe.h"
#include "flow/wait/delay.h"
#include "net/http/client.h"
#include "net/http/server.h"
#include "net/sim/sim_network.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

using namespace flow;
using namespace flow::net;

namespace {

constexpr double kUnrest = 40, kPeace = 30, kBetween = 0.2; // seconds
constexpr int kClients = 3, kTasks = 4;

struct Asked {
    std::size_t size = 0; // bytes of the answer, and of the body of a POST
    int handled = 0;      // how often a handler was called
};

struct Run {
    World& world;
    std::string url;
    std::map<int, Asked> asked; // by number
    int answered = 0;

    void check(bool isRight, int number, char const* what) {
        if (!isRight)
            world.fail(format("request %d: %s", number, what));
    }
};

/// The bytes of request `number`, both ways: those of another request, or of another place, differ.
std::string bytesOf(int number, std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<char>(static_cast<std::size_t>(number) * 7 + i + i / 251);
    return bytes;
}

DeterministicRandom& dice() {
    return *deterministicRandom();
}
std::size_t someSize() {
    return dice().randomSkewedUInt32(1, 150'000) - 1;
}

/// A body in pieces, some of which come late.
struct Pieces {
    std::string bytes;
    std::size_t sent = 0;
};
Future<Bytes> nextPiece(std::shared_ptr<Pieces> pieces) {
    if (dice().random01() < 0.05)
        co_await delay(2 * dice().random01());
    std::size_t size = std::min<std::size_t>(pieces->bytes.size() - pieces->sent, dice().randomSkewedUInt32(1, 20'000));
    Bytes piece = StringRef(std::string_view(pieces->bytes).substr(pieces->sent, size));
    pieces->sent += size;
    co_return piece;
}

/// In memory, as a stream of a known size, or in chunks.
http::Body someBody(int number, std::size_t size) {
    std::string bytes = bytesOf(number, size);
    int kind = dice().randomInt(0, 3);
    if (kind == 0)
        return bytes;
    auto pieces = std::make_shared<Pieces>(std::move(bytes));
    auto next = [pieces] { return nextPiece(pieces); };
    return kind == 1 ? http::Body::stream(next, size) : http::Body::stream(next);
}

Future<http::Response> answer(Run* run, http::Request request) {
    int number = std::stoi(request.target.substr(1));
    Asked& asked = run->asked[number];
    ++asked.handled;
    if (request.method == "POST") {
        run->check(asked.handled == 1, number, "a POST is handled twice");
        std::string body = co_await request.body.text(1 << 20);
        run->check(body == bytesOf(number, asked.size), number, "the server has got other bytes");
    }
    http::Response response;
    response.body = someBody(number, asked.size);
    co_return std::move(response);
}

/// Ends in order now and then, and begins again.
Future<Void> serveRequests(Run* run) {
    http::ServerOptions options;
    options.idle = 5;
    options.headerTime = 5;
    options.bodyTime = 10;
    options.writeTime = 10;
    options.grace = 3;
    for (;;) {
        http::Handler handler = [run](http::Request request) { return answer(run, std::move(request)); };
        Future<Void> stop = delay(5 + 25 * dice().random01());
        Future<Void> serving = serve(transport().listen(80), handler, options, std::move(stop));
        co_await std::move(serving);
    }
}

bool isExpectedEnd(Error const& error) {
    return isConnectionError(error) || error == timed_out() || error == operation_obsolete();
}

Future<Void> askFor(Run* run, http::Client* client, int number, bool isPost) {
    Asked& asked = run->asked[number];
    asked.size = someSize();
    http::Request request;
    if (isPost) {
        request.method = "POST";
        request.body = someBody(number, asked.size);
    }
    std::string got;
    bool hasBegun = false;
    try {
        Future<http::Response> asking = client->send(std::move(request), run->url + std::to_string(number));
        http::Response response = co_await std::move(asking);
        if (response.status != 200) { // the server has not got the whole body
            run->check(isPost && (response.status == 408 || response.status == 500 || response.status == 400), number,
                       "another status than 200");
            co_return;
        }
        hasBegun = true;
        for (;;) {
            if (dice().random01() < 0.01)
                co_await delay(15 * dice().random01()); // the client stalls
            Future<Bytes> reading = response.body.read();
            Bytes piece = co_await std::move(reading);
            if (piece.empty())
                break;
            got += piece.toStringView();
        }
    } catch (Error& error) {
        if (error == actor_cancelled())
            throw;
        if (!isExpectedEnd(error))
            run->world.fail(format("request %d: %s: %s", number, error.name(), error.what()));
        FLOW_CODE_PROBE(hasBegun, "a body was cut off");
        FLOW_CODE_PROBE(isPost && asked.handled == 1, "a POST was handled and not answered");
        run->check(bytesOf(number, asked.size).starts_with(got), number, "other bytes before the cut");
        co_return;
    }
    run->check(got == bytesOf(number, asked.size), number, "the client has got other bytes");
    run->check(asked.handled >= 1, number, "an answer that no handler has given");
    FLOW_CODE_PROBE(!isPost && asked.handled > 1, "a GET was sent again");
    ++run->answered;
}

Future<Void> askOften(Run* run, http::Client* client) {
    for (;;) {
        int number = static_cast<int>(run->asked.size());
        run->asked[number];
        Future<Void> asking = askFor(run, client, number, dice().coinflip());
        double patience = dice().random01() < 0.05 ? 2 * dice().random01() : 1000;
        co_await race(asking, delay(patience));
        co_await delay(kBetween * dice().random01());
    }
}

Future<Void> work(Run* run) {
    http::ClientOptions options;
    options.connections = 3;
    options.connectTimeout = 5;
    options.firstByteTimeout = 20;
    options.idleTimeout = 20;
    options.timeout = 120;
    http::Client client(options);
    std::vector<Future<Void>> tasks;
    for (int i = 0; i < kTasks; ++i)
        tasks.push_back(askOften(run, &client));
    for (Future<Void>& each : tasks)
        co_await each;
}

/// Not wrong bits: nothing in HTTP finds them. Not clocks that jump, and no failing allocations: others test them.
Faults forHttp(Faults faults) {
    faults.messageCorruption = 0;
    faults.clockJump = 0;
    faults.allocationFailure = 0;
    faults.addressSwap = 0; // the URL has the address
    return faults;
}

Future<Void> httpUnderFaults(World& world) {
    world.setFaults(forHttp(world.faults()));
    SimNetwork network(world);
    Run run{world, {}, {}};
    Process& server = world.add({.name = "server", .main = [&run] { return serveRequests(&run); }});
    run.url = "http://" + Address(server.address(), 80).toString() + "/";
    world.start(server);
    for (int i = 0; i < kClients; ++i)
        world.start({.name = format("client%d", i), .main = [&run] { return work(&run); }});
    co_await delay(kUnrest / 2);
    world.reboot(server); // in the middle of some bodies
    co_await delay(kUnrest / 2);
    world.disableFaults();
    network.heal();
    co_await delay(kPeace / 2);
    int before = run.answered;
    co_await delay(kPeace / 2);
    for (int i = 0; i < 20 && run.answered == before; ++i) // a server that stays slow needs longer
        co_await delay(kPeace);
    if (run.answered == before)
        world.fail("no answers in peace");
    world.stopAll(); // their mains refer to what is here
}

Simulation const kHttp("http", httpUnderFaults);

} // namespace
