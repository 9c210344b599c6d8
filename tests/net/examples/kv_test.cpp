// A server of the replicated store, in a simulation. That a few of them work together is shown by tests/sim/kv.
#include "flow/combine/timeout.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/disk.h"
#include "flow/sim/sim_loop.h"
#include "flow/sim/world.h"
#include "flow/wait/delay.h"
#include "net/examples/kv/replica.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;

namespace {

using kv::Message, kv::Reply, kv::Request;

/// The only server, or one of two; the other one agrees with everything.
class Server final : public kv::Replica, public kv::Witness {
public:
    explicit Server(int servers) : Replica(0, servers, {net::Address()}, "/journal", *this) {}

private:
    Future<Void> listenToServers() override {
        FutureStream<Message> sent = sent_.getFuture();
        for (;;) {
            Message message = co_await sent;
            bool asks = message.kind == Message::Kind::AskVote;
            std::uint64_t index = message.index + message.entries.size();
            co_await received({.kind = asks ? Message::Kind::Vote : Message::Kind::Appended,
                               .from = 1,
                               .to = 0,
                               .term = message.term,
                               .granted = true,
                               .index = index},
                              net::Address());
        }
    }
    Future<Void> listenToClients() override {
        Request newer{.client = 7, .number = 2, .verb = kv::Verb::Put, .key = "a", .value = {"new"}};
        Request older{.client = 7, .number = 1, .verb = kv::Verb::Put, .key = "a", .value = {"old"}};
        Request get{.client = 8, .number = 1, .verb = kv::Verb::Get, .key = "a"};
        Reply done;
        for (; !done.done; co_await delay(0.1))
            done = co_await answer(newer);
        std::size_t entries = executed_;
        Reply again = co_await answer(newer);
        CHECK((again.done && again.succeeded));
        Reply late = co_await answer(older);
        CHECK_FALSE(late.done);
        CHECK(executed_ == entries); // neither has made an entry
        Reply got = co_await answer(get);
        CHECK((got.done && got.value == Optional<std::string>("new")));
        CHECK(executed_ == entries + 1);
    }
    void transmit(Message const& message, net::Address const&) override { sent_.send(message); }
    void executes(int, std::uint64_t, kv::Entry const&, bool) override { ++executed_; }

    PromiseStream<Message> sent_;
    std::size_t executed_ = 0;
};

/// All that is to be synced is lost for good with the one sync that fails, and all that is not synced with the power.
class OneSyncFails final : public FaultSource {
public:
    explicit OneSyncFails(int number) : left_(number) {}

    bool injects(FaultKind kind, std::uint64_t) override {
        if (kind == FaultKind::diskSyncError) {
            isLosing = isArmed && left_-- == 0;
            hasFailed |= isLosing;
            return isLosing;
        }
        return isLosing && (kind == FaultKind::diskLostWrite || kind == FaultKind::diskLostName);
    }
    DeterministicRandom& random(FaultKind) override { return random_; }
    DeterministicRandom& random() override { return random_; }

    bool isArmed = false;
    bool hasFailed = false;
    bool isLosing = false;

private:
    int left_;
    DeterministicRandom random_{1};
};

/// After a failed sync it opens the journal again and goes on, as a server does that starts again.
Future<Void> goOn(OneSyncFails* faults, bool replaces) {
    Reference<kv::Journal> journal = co_await kv::Journal::open("/log");
    co_await journal->append(std::string(600, 'a'));
    faults->isArmed = true;
    Future<Void> changing = replaces ? journal->replace({std::string(600, 'b'), std::string(600, 'c')})
                                     : journal->append(std::string(600, 'b'));
    ErrorOr<Void> changed = co_await tryGet(std::move(changing));
    faults->isArmed = false;
    if (changed.isError())
        journal = co_await kv::Journal::open("/log");
    co_await journal->append("acknowledged");
}

/// Damages a copy of the journal.
Future<Void> wipe(std::string path) {
    Reference<AsyncFile> file = co_await files().open(path, OpenMode::ReadWrite);
    co_await file->truncate(0);
    co_await file->sync();
}

Future<std::string> lastRecord() {
    Reference<kv::Journal> journal = co_await kv::Journal::open("/log");
    co_return journal->records().empty() ? std::string() : journal->records().back();
}

template <int servers>
Future<Void> runServer() {
    Server server(servers);
    co_await server.run();
}

} // namespace

TEST_CASE("kv: what was acknowledged after a failed sync survives the damage of either copy of the journal") {
    for (bool replaces : {false, true})
        for (char const* damaged : {"/log1", "/log2"})
            for (int failing = 0;; ++failing) { // data and names of either copy
                INFO(replaces << " " << damaged << " " << failing);
                OneSyncFails faults(failing);
                SimDisk disk(faults);
                {
                    SimLoop loop;
                    loop.provide<FileSystem>(&disk);
                    loop.run(goOn(&faults, replaces));
                    loop.run(wipe(damaged));
                }
                faults.isLosing = true;
                disk.crash();
                faults.isLosing = false;
                disk.boot();
                SimLoop loop;
                loop.provide<FileSystem>(&disk);
                CHECK(loop.run(lastRecord()) == "acknowledged");
                if (!faults.hasFailed) {
                    CHECK(failing == (replaces ? 4 : 2));
                    break;
                }
            }
}

TEST_CASE("kv: a request that its client has gone on from is answered without an entry in the log") {
    for (auto run : {runServer<1>, runServer<2>}) { // the only server elects itself
        World world(1);
        Process& process = world.add({.name = "server", .main = run});
        process.attach<ProcessDisk>(world);
        world.start(process);
        world.run(timeoutError(process.onStop(), 60));
        REQUIRE(process.exit());
        CHECK_FALSE(process.exit()->isValid());
        CHECK(!world.failure());
    }
}
