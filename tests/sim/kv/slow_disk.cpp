// "kv_slow_disk": the replicated store without faults, on disks so slow that to write down one entry takes as long as
// to wait for a leader. A follower stands still for a while and comes back. Elections and catching up must take little
// time, and no server may start an election only because it was busy.
#include "flow/base/format.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/disk.h"
#include "flow/sim/simulation.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/examples/kv/client.h"
#include "net/sim/sim_network.h"
#include "tests/sim/kv/server.h"

#include <map>
#include <string>

namespace kv {
namespace {

constexpr double kDiskSeconds = 0.06; // an operation; six of them write down an entry
constexpr int kEntries = 60;
constexpr std::size_t kValueBytes = 16 * 1024;

struct Leaders final : Witness {
    void leads(int server, std::uint64_t) override {
        last = server;
        ++count;
    }
    void executes(int server, std::uint64_t index, Entry const&, bool) override { executed[server] = index; }

    int last = 0, count = 0;
    std::map<int, std::uint64_t> executed;
};

class Test {
public:
    explicit Test(World& world) : world_(world) {
        for (int id = 0; id < cluster_.servers; ++id)
            addServer(id);
        world.add({.name = "client", .main = [this] { return write(); }});
        for (auto& process : world.processes())
            cluster_.addresses.emplace_back(process->address(), Cluster::kRpcPort);
        cluster_.addresses.pop_back();
        for (auto& process : world.processes())
            world.start(*process);
    }

    /// When the client has ended.
    Future<Void> done() { return world_.processes().back()->onStop(); }

private:
    void addServer(int id) {
        auto main = [this, id] {
            return runServer({.id = id,
                              .servers = cluster_.servers,
                              .addresses = cluster_.addresses,
                              .listenAt = cluster_.addresses[static_cast<std::size_t>(id)],
                              .journal = "/journal",
                              .witness = &leaders_});
        };
        Process& process = world_.add({.name = format("server%d", id), .main = main});
        process.attach<ProcessDisk>(world_, DiskSpeed{.seconds = kDiskSeconds});
    }

    Future<Void> write() {
        StoreClient store(cluster_.addresses, 1);
        co_await put(store, 0);
        within(12, "the first leader was elected");
        int follower = (leaders_.last + 1) % cluster_.servers;
        Process& stopped = *world_.processes()[static_cast<std::size_t>(follower)];
        int elected = leaders_.count;
        world_.pause(stopped, 1000);
        for (int i = 1; i < kEntries; ++i)
            co_await put(store, i);
        within(1.2 * kEntries, "the entries were written");
        world_.resume(stopped);
        Reply reply = co_await store.ask({.verb = Verb::Get, .key = "key1"});
        within(5, "an entry was read back");
        if (!reply.value.present() || reply.value.get().size() != kValueBytes)
            world_.fail("a value is not there");
        while (leaders_.executed[follower] < leaders_.executed[leaders_.last])
            co_await delay(0.1);
        within(8, "the follower had all entries");
        if (leaders_.count != elected)
            world_.fail(format("%d needless changes of the leader", leaders_.count - elected));
    }

    static Future<Void> put(StoreClient& store, int number) {
        co_await store.ask({.verb = Verb::Put,
                            .key = format("key%d", number),
                            .value = std::string(kValueBytes, static_cast<char>('a' + number % 26))});
    }

    void within(double seconds, char const* what) {
        double took = now() - begin_;
        begin_ = now();
        if (took > seconds)
            world_.fail(format("%.1f seconds until %s", took, what));
    }

    World& world_;
    Leaders leaders_;
    Cluster cluster_{3, {}};
    double begin_ = 0;
};

Future<Void> simulate(World& world) {
    world.disableFaults();
    net::SimNetwork network(world);
    Test test(world);
    co_await test.done();
    world.stopAll();
}

Simulation const registered("kv_slow_disk", simulate);

} // namespace
} // namespace kv
