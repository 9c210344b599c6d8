#pragma once
// Parts of the simulation "adversary": a server with services of all kinds, healthy clients of it, and attackers. What
// must hold:
//
//   - a healthy client is served in bounded time, with the right answers: whole, and to its own questions;
//   - the memory that attackers make the server hold is bounded, and so are the bytes that it moves, and the messages
//     that its services take in one turn of the loop;
//   - an answer that was cut is never followed by a clean end of the connection;
//   - the server ends when it is told to, in bounded time, and at a kill no parent goes before its children.

#include "flow/base/random.h"
#include "flow/core/future.h"
#include "flow/memory/object.h"
#include "flow/sim/world.h"
#include "net/address.h"
#include "net/connection.h"
#include "net/message/message_socket.h"
#include "net/rpc/rpc.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace adversary {

enum Port : std::uint16_t {
    kEcho = 7,
    kHttp = 80,
    kRpc = 111,
    kRefused = 113, // its handler throws
    kRouter = 5001,
    kRep,
    kPub,
    kPull,
    kOwnedRouter,
    kOwnedRep
};

/// Seconds. An answer takes less than kPatience, after a reboot of the server as soon as that is kRecovery ago.
constexpr double kPatience = 10, kRecovery = 5;
constexpr double kIdle = 2;   // for a client of HTTP
constexpr double kGrace = 20; // of the server, when it is to end
/// Seconds until the server has ended when nobody has a question.
constexpr double kQuickEnd = 5;

/// Bytes of the file "large" at the HTTP server.
constexpr std::size_t kLarge = 300'000;
char letterAt(std::size_t place);

/// Has much more memory than bytes.
struct Wide {
    std::string some[8];
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, some[0], some[1], some[2], some[3], some[4], some[5], some[6], some[7]);
    }
};

struct Ask {
    constexpr static flow::FileIdentifier file_identifier = 51'001;
    std::string text; // the answer
    std::vector<Wide> wide;
    flow::net::ReplyPromise<std::string> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, text, wide, reply);
    }
};
/// Bytes of a message of RPC. Its containers may need some times as much memory.
constexpr std::uint32_t kLargestRequest = 256 << 10;
constexpr int kAsk = flow::net::WLTOKEN_FIRST_AVAILABLE;

struct Run {
    flow::World& world;
    std::string directory = {};       // of the HTTP server
    flow::net::Address server = {};   // without a port
    flow::net::Address turncoat = {}; // where the owner changes
    double disturbedUntil = 0;        // the server was rebooted: until then clients may get errors
    bool attackersLeave = false;
    bool isEnding = false;        // the server is to end, in order
    int children = 0;             // in the server
    int messages = 0;             // that its services have taken in this turn
    int published = 0;            // messages, in all lives of the server
    std::size_t flood = 40 << 20; // bytes that attackers may still send
    int hits = 2000;              // connections that may still leave an unread message: each keeps some of their state
    std::set<std::string> attacks = {};
    std::map<std::string, int> answers = {}; // to healthy clients, by service

    bool mayFail(double begin) const { return isEnding || begin < disturbedUntil; }
};

/// Something that the connections of the server have pointers to. It is destroyed after all of them.
class Parent {
public:
    explicit Parent(Run& run) : run_(run) { run.children = 0; }
    Parent(Parent const&) = delete;
    Parent& operator=(Parent const&) = delete;
    ~Parent() {
        if (run_.children != 0)
            run_.world.fail("a parent is destroyed before its children");
    }

private:
    Run& run_;
};
class Child {
public:
    explicit Child(Run& run) : run_(run) { ++run.children; }
    Child(Child const&) = delete;
    Child& operator=(Child const&) = delete;
    ~Child() { --run_.children; }

private:
    Run& run_;
};

/// Options of the server's sockets, and of their clients.
flow::net::MessageOptions messageOptions(std::string routingId = {});
std::string endpoint(flow::net::Address const& host, Port port);

/// The mains of processes.
flow::Future<flow::Void> runServer(Run& run);
flow::Future<flow::Void> runHealthy(Run& run, std::string name);
flow::Future<flow::Void> runAttacker(Run& run);
/// Peers of the server's sockets that connect. One address has many owners, one after the other.
flow::Future<flow::Void> runTurncoat(Run& run);

} // namespace adversary
