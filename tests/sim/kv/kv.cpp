// "kv": a replicated key-value store and its clients, for a while with every fault that the seed gives them, and then
// in peace, in which all must come right again. "rpc_kv": the same, over requests between processes.
#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/disk.h"
#include "flow/sim/linearizable.h"
#include "flow/sim/simulation.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/examples/kv/server.h"
#include "net/sim/sim_network.h"
#include "net/transport.h"
#include "tests/sim/kv/client.h"

#include <map>
#include <string>
#include <vector>

namespace kv {
namespace {

constexpr double kUnrest = 40, kPeace = 30; // seconds
constexpr int kClients = 3;
constexpr std::uint64_t kLeastAnswered = 40; // to a client process, in half of the peace

/// What must hold at every moment, seen from outside.
class Judge final : public Witness {
public:
    Judge(World& world, Workload& workload) : world_(world), workload_(workload) {}

    void leads(int server, std::uint64_t term) override {
        auto [place, isNew] = leaders_.try_emplace(term, server);
        if (place->second != server)
            world_.fail(format("servers %d and %d lead in term %llu", place->second, server, (unsigned long long)term));
    }

    void promises(int server, std::uint64_t term, int votedFor, std::uint64_t executed) override {
        promised_[server] = {term, votedFor, executed};
    }

    void recovers(int server, std::uint64_t term, int votedFor, std::uint64_t lastIndex) override {
        Promised const& before = promised_[server];
        if (term < before.term || lastIndex < before.executed ||
            (term == before.term && before.votedFor != -1 && votedFor != before.votedFor))
            world_.fail(format("server %d does not keep what it has promised: term %llu, a vote for %d, %llu entries; "
                               "it was %llu, %d, %llu",
                               server, (unsigned long long)term, votedFor, (unsigned long long)lastIndex,
                               (unsigned long long)before.term, before.votedFor, (unsigned long long)before.executed));
    }

    void executes(int server, std::uint64_t index, Entry const& entry, bool fresh) override {
        executedBy_[server] = index;
        Seen seen{entry.term, nameOf(entry.request), fresh};
        auto [place, isNew] = executed_.try_emplace(index, seen);
        if (place->second != seen)
            world_.fail(format("server %d executes another entry than others at %llu: %s of term %llu, not %s of %llu",
                               server, (unsigned long long)index, seen.request.c_str(), (unsigned long long)seen.term,
                               place->second.request.c_str(), (unsigned long long)place->second.term));
        if (isNew && fresh)
            workload_.requests.executed(seen.request, format("entry %llu", (unsigned long long)index));
    }

    /// The last one that a server has executed, of all that it has recovered or got.
    std::uint64_t executedBy(int server) { return executedBy_[server]; }
    std::uint64_t executedByAny() const { return executed_.empty() ? 0 : executed_.rbegin()->first; }

private:
    struct Promised {
        std::uint64_t term = 0;
        int votedFor = -1;
        std::uint64_t executed = 0;
    };
    struct Seen {
        std::uint64_t term;
        std::string request;
        bool fresh;
        bool operator==(Seen const&) const = default;
    };

    World& world_;
    Workload& workload_;
    std::map<std::uint64_t, int> leaders_;   // by term
    std::map<std::uint64_t, Seen> executed_; // by place in the log
    std::map<int, std::uint64_t> executedBy_;
    std::map<int, Promised> promised_;
};

/// How far everybody is at one moment of the peace, and whether all that lived on from there have gone on.
class Standing {
public:
    Standing(World& world, Workload& workload, Judge& witness)
        : world_(world), workload_(workload), witness_(witness), executed_(witness.executedByAny()),
          answered_(workload.answered) {
        for (auto& process : world.processes())
            lives_.push_back(process->isRunning() ? process->lives() : 0);
    }

    void judge() {
        int server = 0;
        for (std::size_t i = 0; i < lives_.size(); ++i) {
            Process& process = *world_.processes()[i];
            bool isServer = process.name().starts_with("server");
            int id = isServer ? server++ : -1;
            if (!process.isRunning() || process.lives() != lives_[i])
                continue;
            if (isServer && witness_.executedBy(id) < executed_)
                world_.fail(process.name() + " does not catch up in peace\n" + world_.waitGraph());
            if (!isServer && workload_.answered[process.name()] < answered_[process.name()] + kLeastAnswered)
                world_.fail(process.name() + " gets too few answers in peace\n" + world_.waitGraph());
        }
    }

private:
    World& world_;
    Workload& workload_;
    Judge& witness_;
    std::uint64_t executed_;
    std::map<std::string, std::uint64_t> answered_;
    std::vector<int> lives_; // of each process; 0: it does not run
};

/// The verdicts at the end.
void judge(World& world, Workload const& workload) {
    if (auto verdict = checkLinearizable(workload.history);
        verdict.outcome == LinearizabilityVerdict::Outcome::notLinearizable)
        world.fail("not linearizable\n" + verdict.explanation);
    if (auto report = workload.requests.check(); !report.ok())
        world.fail("not executed exactly once\n" + report.text());
}

Future<Void> runOne(Way way, int id, Cluster const& cluster, Witness& witness) {
    if (way == Way::Connections)
        return runDatagramServer(id, cluster, witness);
    return runServer({.id = id,
                      .servers = cluster.servers,
                      .addresses = cluster.at(Cluster::kRpcPort),
                      .listenAt = net::transport().localAddress().withPort(Cluster::kRpcPort),
                      .journal = "/journal",
                      .witness = &witness});
}

Future<Void> simulate(World& world, Way way) {
    net::SimNetwork network(world);
    Cluster cluster;
    Workload workload;
    Judge witness(world, workload);
    cluster.servers = deterministicRandom()->coinflip() ? 3 : 5;
    double diskSeconds = deterministicRandom()->randomChoice(std::vector{0.0001, 0.0005, 0.003});
    for (int id = 0; id < cluster.servers; ++id) {
        Process& process = world.add({.name = format("server%d", id),
                                      .main = [&, id] { return runOne(way, id, cluster, witness); },
                                      .restartAfter = 0.1});
        process.attach<ProcessDisk>(world, DiskSpeed{.seconds = diskSeconds});
    }
    for (int i = 0; i < kClients; ++i) {
        std::string name = format("client%d", i);
        auto main = [&, name] { return runClients(way, cluster, workload, name); };
        world.add({.name = name, .main = main, .restartAfter = 0.5});
    }
    for (auto& process : world.processes()) // they may change places
        cluster.addresses.emplace_back(process->address(), 0);
    for (auto& process : world.processes())
        world.start(*process);
    co_await delay(kUnrest);
    world.disableFaults(); // and what has begun ends, too
    network.heal();
    for (auto& process : world.processes()) {
        if (!process->isRunning())
            world.start(*process);
        world.resume(*process);
    }
    co_await delay(kPeace / 2);
    Standing before(world, workload, witness);
    co_await delay(kPeace / 2);
    before.judge();
    workload.isOver = true;
    world.stopAll();
    judge(world, workload);
}

Simulation const connections("kv", [](World& world) { return simulate(world, Way::Connections); });
Simulation const rpc("rpc_kv", [](World& world) { return simulate(world, Way::Rpc); });

} // namespace
} // namespace kv
