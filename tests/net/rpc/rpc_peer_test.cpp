// What belongs to a connection ends with it: answers and acknowledgements never go to another process, which has the
// address since, and has the same numbers.

#include "net/rpc/detail/rpc_peer.h"

#include "flow/combine/race.h"
#include "flow/compat/collection.h"
#include "flow/coro/coroutine.h"
#include "flow/wait/delay.h"
#include "net/rpc/reply_promise_stream.h"
#include "net/rpc/request_stream.h"
#include "tests/net/rpc/two_processes.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;
using test::TwoProcesses;

namespace {

struct PeerQuestion {
    constexpr static FileIdentifier file_identifier = 1201;
    int run = 0; // of the server that asks
    ReplyPromise<int> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, run, reply);
    }
};

/// Of a client, at which the server asks.
struct Offer {
    constexpr static FileIdentifier file_identifier = 1202;
    RequestStream<PeerQuestion> questions;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, questions);
    }
};

struct Line : ReplyPromiseStreamReply {
    constexpr static FileIdentifier file_identifier = 1203;
    std::size_t expectedSize() const { return 1000; }
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, acknowledgeToken, sequence);
    }
};

struct Listing {
    constexpr static FileIdentifier file_identifier = 1204;
    ReplyPromiseStream<Line> reply;
    template <class Ar>
    void serialize(Ar& ar) {
        serializer(ar, reply);
    }
};

constexpr int kOffers = WLTOKEN_FIRST_AVAILABLE, kListings = WLTOKEN_FIRST_AVAILABLE + 1;

/// It is the same thread as the client's.
struct ServerRuns {
    int runs = 0;
    std::vector<int> answers; // of each run
    int lines = 0;            // which the last run has sent
};
ServerRuns serverRuns;

Future<Void> askClient(Offer client, int run) {
    int answer = co_await client.questions.getReply(PeerQuestion{run, {}});
    serverRuns.answers.push_back(answer);
}

/// No more than three lines ahead.
Future<Void> list(Listing listing) {
    listing.reply.setByteLimit(3000);
    for (;;) {
        co_await listing.reply.onReady();
        listing.reply.send(Line());
        ++serverRuns.lines;
    }
}

Future<Void> serveRun() {
    int run = ++serverRuns.runs;
    serverRuns.lines = 0;
    RequestStream<Offer> offers;
    RequestStream<Listing> listings;
    offers.makeWellKnownEndpoint(kOffers, TaskPriority::DefaultEndpoint);
    listings.makeWellKnownEndpoint(kListings, TaskPriority::DefaultEndpoint);
    ActorCollectionNoErrors serving;
    FutureStream<Offer> newOffers = offers.getFuture();
    FutureStream<Listing> newListings = listings.getFuture();
    for (;;) {
        auto next = co_await race(newOffers, newListings);
        serving.add(next.index() == 0 ? askClient(std::get<0>(next), run) : list(std::get<1>(next)));
    }
}

} // namespace

TEST_CASE("rpc peer: the answer to a process that has ended does not go to the next one at its address") {
    serverRuns = {};
    TwoProcesses::run(serveRun, []() -> Future<Void> {
        Offer own;
        FutureStream<PeerQuestion> questions = own.questions.getFuture();
        RequestStream<Offer> offer(Endpoint::wellKnown({TwoProcesses::server(), {}}, kOffers));
        offer.send(own);
        PeerQuestion first = co_await questions;
        CHECK(first.run == 1);
        TwoProcesses::killServer();
        co_await delay(1);
        TwoProcesses::restartServer();
        co_await delay(1);
        offer.send(own);
        PeerQuestion second = co_await questions;
        CHECK(second.run == 2);
        first.reply.send(111);
        co_await delay(1);
        CHECK(serverRuns.answers.empty());
        second.reply.send(222);
        co_await delay(1);
        CHECK(serverRuns.answers == std::vector<int>{222});
    });
}

TEST_CASE("rpc peer: what is taken of one stream of replies acknowledges nothing of another connection's") {
    serverRuns = {};
    TwoProcesses::run(serveRun, []() -> Future<Void> {
        RequestStream<Listing> listings(Endpoint::wellKnown({TwoProcesses::server(), {}}, kListings));
        ReplyPromiseStream<Line> before = listings.getReplyStream();
        FutureStream<Line> linesBefore = before.getFuture();
        co_await delay(1);
        CHECK(serverRuns.lines == 3);
        TwoProcesses::killServer();
        co_await delay(1);
        TwoProcesses::restartServer();
        co_await delay(1);
        ReplyPromiseStream<Line> after = listings.getReplyStream();
        FutureStream<Line> lines = after.getFuture();
        co_await delay(1);
        CHECK(serverRuns.runs == 2);
        CHECK(serverRuns.lines == 3);
        for (int i = 0; i < 3; ++i)
            (void)co_await linesBefore;
        CHECK(linesBefore.isReady()); // the end
        co_await delay(1);
        CHECK(serverRuns.lines == 3);
        (void)co_await lines;
        (void)co_await lines;
        (void)co_await lines;
        co_await delay(1);
        CHECK(serverRuns.lines == 6);
    });
}

TEST_CASE("rpc peer: an endpoint by a connection that has ended is not that of another one from its address") {
    TwoProcesses::run(
        []() -> Future<Void> {
            RequestStream<Offer> offers;
            offers.makeWellKnownEndpoint(kOffers, TaskPriority::DefaultEndpoint);
            Offer client = co_await offers.getFuture();
            rpc::Node& node = rpc::Node::current();
            Endpoint endpoint = client.questions.getEndpoint();
            CHECK(endpoint.isByConnection);
            CHECK(node.peerOf(endpoint));
            Endpoint earlier = endpoint;
            --earlier.connection;
            CHECK_FALSE(node.peerOf(earlier));
            RequestStream<PeerQuestion> stale(earlier);
            CHECK((co_await stale.tryGetReply(PeerQuestion())).isError(error_code_request_maybe_delivered));
            co_await askClient(client, 1);
            co_await delay(1000);
        },
        []() -> Future<Void> {
            Offer own;
            RequestStream<Offer> offer(Endpoint::wellKnown({TwoProcesses::server(), {}}, kOffers));
            offer.send(own);
            PeerQuestion question = co_await own.questions.getFuture();
            question.reply.send(1);
            co_await delay(1);
        });
}
