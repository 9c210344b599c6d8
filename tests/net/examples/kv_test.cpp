// A server of the replicated store, in a simulation. That a few of them work together is shown by tests/sim/kv.
#include "flow/combine/timeout.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/disk.h"
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

template <int servers>
Future<Void> runServer() {
    Server server(servers);
    co_await server.run();
}

} // namespace

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
