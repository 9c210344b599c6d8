#pragma once
// Clone: a table of keys and values at a server, and replicas of the table that follow each change.
//
//     co_await CloneServer(CloneEndpoints::at("tcp://*", 5555)).run();
//
//     Replica replica(CloneEndpoints::at("tcp://127.0.0.1", 5555));
//     Scope scope;
//     scope.spawn(replica.follow());
//     replica.set("colour", "blue");                 // the server's table changes, then all replicas
//     replica.table().find("colour");
//
// The server numbers its changes and publishes them. Each second it also publishes the last number, so a replica
// detects that it has missed a change, and asks for the whole table. A restarted server has an empty table and another
// random term: replicas detect this too.

#include "net/examples/patterns/lazy_pirate.h"

#include <map>

struct CloneEndpoints {
    std::string snapshots, changes, sets; // REP, PUB and PULL of the server

    /// Returns endpoints at `port` and the next two ports.
    static CloneEndpoints at(std::string const& host, int port) {
        auto endpoint = [&](int i) { return host + ":" + std::to_string(port + i); };
        return {endpoint(0), endpoint(1), endpoint(2)};
    }
};

using Table = std::map<std::string, std::string, std::less<>>;

class CloneServer {
public:
    explicit CloneServer(CloneEndpoints const& endpoints);
    flow::Future<flow::Void> run();
    Table const& table() const { return table_; }

private:
    flow::Future<flow::Void> takeSets();
    flow::Future<flow::Void> giveSnapshots();
    flow::Future<flow::Void> beat();
    flow::net::Message snapshot() const;

    flow::net::MessageSocket snapshots_, changes_, sets_;
    Table table_;
    std::string term_;
    std::uint64_t last_ = 0; // the number of the last change
};

class Replica {
public:
    explicit Replica(CloneEndpoints const& endpoints);
    flow::Future<flow::Void> follow();
    /// Sends a change to the server. The future is ready when the change is queued. If the connection breaks before the
    /// change arrives, the change is lost.
    flow::Future<flow::Void> set(std::string_view key, std::string_view value);
    Table const& table() const { return table_; }

private:
    flow::Future<flow::Void> fetch();

    flow::net::MessageSocket changes_, sets_;
    Asker asker_;
    Table table_;
    std::string term_;
    std::uint64_t last_ = 0;
};
