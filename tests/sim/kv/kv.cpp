// "kv": a replicated key-value store and its clients, for a while with every fault that the seed gives them, and then
// in peace, in which all must come right again.
#include "flow/flow.h"
#include "flow/sim/disk.h"
#include "flow/sim/linearizable.h"
#include "flow/sim/simulation.h"
#include "flow/sim/world.h"
#include "net/sim/sim_network.h"
#include "tests/sim/kv/client.h"

namespace kv {
namespace {

constexpr double kUnrest = 30, kPeace = 60; // seconds
constexpr int kClients = 3;

/// What must hold at every moment, seen from outside.
class Judge final : public Witness {
public:
    Judge(World& world, Workload& workload) : world_(world), workload_(workload) {}

    void leads(int server, std::uint64_t term) override {
        auto [place, isNew] = leaders_.try_emplace(term, server);
        if (place->second != server)
            world_.fail(format("servers %d and %d lead in term %llu", place->second, server, (unsigned long long)term));
    }

    void executes(int server, std::uint64_t index, Entry const& entry, bool fresh) override {
        Seen seen{entry.term, nameOf(entry.request), fresh};
        auto [place, isNew] = executed_.try_emplace(index, seen);
        if (place->second != seen)
            world_.fail(format("server %d executes another entry than others at %llu: %s of term %llu, not %s of %llu",
                               server, (unsigned long long)index, seen.request.c_str(), (unsigned long long)seen.term,
                               place->second.request.c_str(), (unsigned long long)place->second.term));
        if (isNew && fresh)
            workload_.requests.executed(seen.request, format("entry %llu", (unsigned long long)index));
    }

private:
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
};

/// The verdicts at the end.
void judge(World& world, Workload const& workload) {
    if (auto verdict = checkLinearizable(workload.history);
        verdict.outcome == LinearizabilityVerdict::Outcome::notLinearizable)
        world.fail("not linearizable\n" + verdict.explanation);
    if (auto report = workload.requests.check(); !report.ok())
        world.fail("not executed exactly once\n" + report.text());
}

Future<Void> simulate(World& world) {
    net::SimNetwork network(world);
    Cluster cluster;
    Workload workload;
    Judge witness(world, workload);
    cluster.servers = deterministicRandom()->coinflip() ? 3 : 5;
    for (int id = 0; id < cluster.servers; ++id) {
        Process& process = world.add({.name = format("server%d", id),
                                      .main = [&, id] { return runServer(id, cluster, witness); },
                                      .restartAfter = 0.5});
        process.attach<ProcessDisk>(world);
    }
    for (int i = 0; i < kClients; ++i)
        world.add(
            {.name = format("client%d", i), .main = [&] { return runClient(cluster, workload); }, .restartAfter = 0.5});
    for (auto& process : world.processes()) // they may change places
        cluster.addresses.emplace_back(process->address(), 0);
    for (auto& process : world.processes())
        world.start(*process);
    co_await delay(kUnrest);
    world.calmDown();
    co_await delay(kPeace / 2);
    std::uint64_t answered = workload.answered;
    co_await delay(kPeace / 2);
    if (workload.answered == answered)
        world.fail("in peace no request is answered\n" + world.whoWaits());
    workload.isOver = true;
    world.stopAll();
    judge(world, workload);
}

Simulation const registered("kv", simulate);

} // namespace
} // namespace kv
