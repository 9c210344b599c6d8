// A session of requests and responses over a connection, composed of its operations, in each style; fiber/ and
// session.actor.cpp have the others.

#include "flow/compat/wait_for_all.h"
#include "flow/core/operation.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "flow/wait/detail/composed_operation.h"
#include "net/connection.h"
#include "tests/net/transport_suite.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;
using namespace flow::net;
using flow::test::echoOnce;
using flow::test::endOf;
using flow::test::makePair;
using flow::test::Pair;

Future<Void> runActorSession(int const& requests); // session.actor.cpp

namespace {

constexpr int kRequests = 20;

Bytes question(int number) {
    return StringRef("question " + std::to_string(number) + "\r\n");
}

/// One request: writes a line, and reads one.
class Ask : public ComposedOperation {
public:
    void start(Connection& to, Bytes line, Completion<Bytes> end) {
        to_ = &to;
        end_ = end;
        waitFor<&Ask::onWritten>(to.write(std::move(line)));
    }

private:
    void onWritten(Error error) {
        if (error.isValid())
            return end_(error, Bytes());
        waitFor<&Ask::onLine>(to_->readUntil("\r\n"_sr, 100));
    }
    void onLine(Error error, Bytes line) { end_(error, std::move(line)); }

    Connection* to_ = nullptr;
    Completion<Bytes> end_;
};

/// Its requests one after the other, as something that every style can wait for.
struct Session : Operation<Session, int> {
    explicit Session(Reference<Connection> with) : with_(std::move(with)) { askNext(); }

private:
    void askNext() { ask_.start(*with_, question(answers_), Completion<Bytes>::to<&Session::onAnswer>(*this)); }
    void onAnswer(Error error, Bytes line) {
        if (error.isValid())
            return fail(error);
        CHECK(line == question(answers_));
        if (++answers_ == kRequests)
            return complete(answers_);
        askNext();
    }

    Reference<Connection> with_;
    Ask ask_;
    int answers_ = 0;
};

Future<Bytes> ask(Reference<Connection> to, Bytes line) {
    co_await to->write(std::move(line));
    Bytes answer = co_await to->readUntil("\r\n"_sr, 100);
    co_return answer;
}

Future<int> session(Reference<Connection> with) {
    for (int i = 0; i < kRequests; ++i) {
        Bytes answer = co_await ask(with, question(i));
        CHECK(answer == question(i));
    }
    co_return kRequests;
}

/// With a peer that sends back the received bytes.
Future<Void> runSession(Future<int> (*begin)(Reference<Connection>)) {
    Pair pair = co_await makePair();
    Future<Void> echoing = echoOnce(pair.server);
    int answers = co_await begin(pair.client);
    CHECK(answers == kRequests);
    pair.client->shutdownWrite();
    co_await echoing;
}

/// With a peer that disconnects in the middle of a line.
Future<Void> runCutOff(Future<int> (*begin)(Reference<Connection>)) {
    Pair pair = co_await makePair();
    Future<int> asking = begin(pair.client);
    co_await pair.server->write("quest"_sr);
    co_await pair.server->readUntil("\r\n"_sr, 100);
    pair.server->shutdownWrite();
    CHECK(co_await endOf(asking) == connection_cut_off());
}

/// A read that is cancelled in the middle takes no later byte.
Future<Void> runGivenUp(Future<int> (*begin)(Reference<Connection>)) {
    Pair pair = co_await makePair();
    Future<int> asking = begin(pair.client);
    co_await pair.server->write("quest"_sr);
    co_await delay(0.001);
    asking.cancel();
    Bytes all = co_await pair.client->readExactly(5);
    CHECK(all == "quest"_sr);
}

Future<int> beginCallbacks(Reference<Connection> with) {
    return start<Session>(with);
}

} // namespace

TEST_CASE("session: of callbacks and of coroutines, over real connections") {
    for (auto* begin : {beginCallbacks, session}) {
        RealLoop loop;
        loop.run(runSession(begin));
        loop.run(runCutOff(begin));
        loop.run(runGivenUp(begin));
    }
}

TEST_CASE("session: of actors, over a real connection") {
    RealLoop loop;
    loop.run(runActorSession(kRequests));
}

TEST_CASE("session: several at once, each over a connection of its own") {
    RealLoop loop;
    std::vector<Future<Void>> all;
    for (int i = 0; i < 6; ++i)
        all.push_back(runSession(i % 2 ? beginCallbacks : session));
    loop.run(waitForAll(all));
}
