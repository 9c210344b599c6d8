#include "net/real/hand_over.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "net/real/adopt.h"
#include "net/testing/connection_pair.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/descriptors.h"
#include "tests/flow/support/temporary_directory.h"
#include "tests/net/ahead_transport.h"
#include "tests/net/file_descriptor_suite.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/resource.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

/// Both ends of a channel. The second process of most cases is this one.
struct Ends {
    Reference<Connection> from, to;
    int fromNumber;

    Ends() {
        int ends[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
        fromNumber = ends[0];
        from = adoptConnection(ends[0]);
        to = adoptConnection(ends[1]);
    }
    /// Sends these bytes and descriptors, as a faulty program may.
    void sendRaw(std::string const& text, std::vector<int> const& descriptors) const {
        iovec part = {const_cast<char*>(text.data()), text.size()};
        alignas(cmsghdr) char control[CMSG_SPACE(8 * sizeof(int))] = {};
        std::size_t size = descriptors.size() * sizeof(int);
        msghdr message = {};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (!descriptors.empty()) {
            message.msg_control = control;
            message.msg_controllen = CMSG_SPACE(size);
            cmsghdr* rights = CMSG_FIRSTHDR(&message);
            rights->cmsg_level = SOL_SOCKET;
            rights->cmsg_type = SCM_RIGHTS;
            rights->cmsg_len = CMSG_LEN(size);
            std::memcpy(CMSG_DATA(rights), descriptors.data(), size);
        }
        CHECK(::sendmsg(fromNumber, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
    }
};

Reference<Listener> listenHere() {
    return transport().listen(Address(0x7F000001, 0));
}

/// Runs test(), which is a coroutine, with each poller, and checks that it leaves no memory and no descriptor.
void onEachPollerWithoutLeak(Future<Void> (*test)()) {
    onEachPoller([&] {
        Balance balance;
        int before = openDescriptors();
        {
            RealLoop loop;
            loop.run(test());
        }
        CHECK(openDescriptors() == before);
    });
}

/// The sentence of the Error that `call` throws.
std::string whyNot(std::function<void()> const& call) {
    try {
        call();
        return "";
    } catch (Error& error) {
        return error.what();
    }
}

Future<Void> sendDetached(Reference<Connection> channel, Reference<Connection> connection) {
    DetachedConnection detached(connection);
    co_await sendConnection(channel, detached);
}

/// The error of the next receive, which must fail, as must the one after it.
Future<std::string> whyNotReceived(Reference<Connection> channel) {
    Error error = co_await endOf(keep(receiveHandedOver(channel)));
    Error again = co_await endOf(keep(receiveHandedOver(channel)));
    CHECK(again == error);
    CHECK(error == serialization_failed());
    co_return error.what();
}

} // namespace

TEST_CASE("hand over to a process: a listener is shared, with its name and its address") {
    onEachPollerWithoutLeak([]() -> Future<Void> {
        Ends channel;
        Reference<Listener> listener = listenHere();
        Address at = listener->localAddress();
        co_await sendListener(channel.from, listener, "http");
        HandedOver handed = co_await receiveHandedOver(channel.to);
        CHECK(handed.name() == "http");
        CHECK(handed.isListener());
        CHECK(whyNot([&] { (void)handed.connection(); }) == "HandedOver::connection(): it is a listener");
        Reference<Connection> early = co_await transport().connect(at); // waits in the kernel
        listener->close();
        Reference<Listener> shared = handed.listener();
        CHECK(shared->localAddress() == at);
        Reference<Connection> server = co_await shared->accept();
        Future<Void> echoing = echoOnce(server);
        co_await askTimes(early, 3);
        early->shutdownWrite();
        co_await std::move(echoing);
    });
}

TEST_CASE("hand over to a process: connections move in their order, with their unread bytes") {
    onEachPollerWithoutLeak([]() -> Future<Void> {
        Ends channel;
        std::string const many(300'000, 'm');
        std::vector<Pair> pairs;
        for (std::string const& text : {std::string(), std::string("abcdef"), many}) {
            Pair pair = co_await makePairAt(Address(0x7F000001, 0));
            co_await pair.client->write(Bytes(StringRef(text + "!")));
            Bytes tooMuch = co_await pair.server->readExactly(1);
            auto never = keep(pair.server->readExactly(1'000'000)); // gathers what comes
            while (pair.server->bufferedBytes() < text.size())
                co_await delay(0.001);
            never = {};
            pairs.push_back(pair);
        }
        for (Pair const& each : pairs)
            co_await sendDetached(channel.from, each.server);
        for (Pair const& each : pairs) {
            HandedOver handed = co_await receiveHandedOver(channel.to);
            CHECK_FALSE(handed.isListener());
            CHECK(whyNot([&] { (void)handed.listener(); }) == "HandedOver::listener(): it is a connection");
            Reference<Connection> server = handed.connection().attach();
            CHECK(server->peerAddress() == each.client->localAddress());
            co_await each.client->write("end"_sr);
            each.client->shutdownWrite();
            std::string rest = co_await readAll(server);
            CHECK(rest.ends_with("end"));
            co_await server->write("answer"_sr);
            Bytes answer = co_await each.client->readExactly(6);
            CHECK(answer == "answer"_sr);
        }
    });
}

TEST_CASE("hand over to a process: a receive that loses a race or is dropped has taken nothing") {
    onEachPollerWithoutLeak([]() -> Future<Void> {
        Ends channel;
        {
            auto dropped = keep(receiveHandedOver(channel.to));
            auto first = co_await race(receiveHandedOver(channel.to), delay(0.002));
            CHECK(first.index() == 1);
        }
        Reference<Listener> listener = listenHere();
        co_await sendListener(channel.from, listener, "1");
        auto first = co_await race(Future<Void>(Void()), receiveHandedOver(channel.to));
        CHECK(first.index() == 0);
        co_await sendListener(channel.from, listener, "2");
        for (char const* name : {"1", "2"}) {
            HandedOver handed = co_await receiveHandedOver(channel.to);
            CHECK(handed.name() == name);
        }
        channel.from->close();
        Error end = co_await endOf(keep(receiveHandedOver(channel.to)));
        CHECK(end == end_of_stream());
    });
}

TEST_CASE("hand over to a process: sends wait for room; a cancel has sent nothing, and the rest keep their order") {
    onEachPollerWithoutLeak([]() -> Future<Void> {
        Ends channel;
        Reference<Listener> listener = listenHere();
        std::vector<Future<Void>> sends;
        while (sends.size() < 1000 && (sends.empty() || sends.back().isReady()))
            sends.push_back(sendListener(channel.from, listener, std::to_string(sends.size())));
        CHECK_FALSE(sends.back().isReady());
        std::size_t fit = sends.size() - 1;
        Pair pair = co_await makePairAt(Address(0x7F000001, 0));
        DetachedConnection detached(pair.server);
        {
            Future<Void> cancelled = sendConnection(channel.from, detached);
            CHECK_FALSE(cancelled.isReady());
        }
        for (std::size_t i = 0; i <= fit; ++i) {
            HandedOver handed = co_await receiveHandedOver(channel.to);
            CHECK(handed.name() == std::to_string(i));
        }
        co_await std::move(sends.back());
        Reference<Connection> still = detached.attach();
        Future<Void> echoing = echoOnce(still);
        co_await askTimes(pair.client, 1);
    });
}

TEST_CASE("hand over to a process: a channel with an ended peer leaves connection and listener here") {
    onEachPollerWithoutLeak([]() -> Future<Void> {
        Ends channel;
        Pair pair = co_await makePairAt(Address(0x7F000001, 0));
        DetachedConnection detached(pair.server);
        channel.to->close();
        Error gone = co_await endOf(sendConnection(channel.from, detached));
        CHECK(isConnectionError(gone));
        gone = co_await endOf(sendListener(channel.from, pair.listener));
        CHECK(isConnectionError(gone));
        Reference<Connection> server = detached.attach();
        Future<Void> echoing = echoOnce(server);
        co_await askTimes(pair.client, 1);
    });
}

TEST_CASE("hand over to a process: what nobody has received is closed") {
    onEachPollerWithoutLeak([]() -> Future<Void> {
        Pair pair = co_await makePairAt(Address(0x7F000001, 0)), other = co_await makePairAt(Address(0x7F000001, 0));
        {
            Ends channel;
            co_await sendDetached(channel.from, pair.server);
            co_await sendDetached(channel.from, other.server);
            HandedOver dropped = co_await receiveHandedOver(channel.to);
        }
        std::string rest = co_await readAll(pair.client);
        CHECK(rest.empty());
        rest = co_await readAll(other.client);
        CHECK(rest.empty());
    });
}

TEST_CASE("hand over to a process: wrong messages are refused, and their descriptors closed") {
    onEachPollerWithoutLeak([]() -> Future<Void> {
        std::string const prefix = "receiveHandedOver(): ";
        std::string record = "millrac1";
        record.resize(512);
        ForeignPair pipe = ForeignPair::ofPipe();
        struct Wrong {
            std::string text;
            std::vector<int> descriptors;
            std::string sentence;
        };
        std::string wrongMark = record, wrongName = record;
        wrongMark[7] = '2';
        wrongName[13] = '\x7f';
        ForeignPair socket = ForeignPair::ofSocket();
        std::vector<Wrong> const all = {
            {"hello", {}, "the bytes are no listener and no connection"},
            {"hello", {pipe[0]}, "the bytes are no listener and no connection"},
            {wrongMark, {pipe[0]}, "the bytes are no listener and no connection"},
            {record + "more", {socket[0]}, ""},
            {record, {}, "no descriptor has come: this process, or a read of other bytes, could not take it"},
            {record, {pipe[0]}, "the descriptor is no socket of the kind that was announced"},
            {record, {socket[0], pipe[0]}, "the message is damaged"},
            {record, {socket[0], pipe[0], pipe[0], pipe[0]}, "the message is damaged"},
            {wrongName, {socket[0]}, "the message is damaged"},
        };
        for (Wrong const& each : all) {
            Ends channel;
            channel.sendRaw(each.text, each.descriptors);
            if (each.sentence.empty()) { // the first one is right
                HandedOver right = co_await receiveHandedOver(channel.to);
                std::string why = co_await whyNotReceived(channel.to);
                CHECK(why == prefix + "the bytes are no listener and no connection");
                continue;
            }
            std::string why = co_await whyNotReceived(channel.to);
            CHECK(why == prefix + each.sentence);
        }
        Ends channel;
        Reference<Listener> listener = listenHere();
        co_await sendListener(channel.from, listener);
        Bytes taken = co_await channel.to->readExactly(100); // an ordinary read, which loses the descriptor
        std::string why = co_await whyNotReceived(channel.to);
        CHECK(why == prefix + "the bytes are no listener and no connection");
    });
}

TEST_CASE("hand over to a process: what cannot be sent is refused with a sentence") {
    onEachPollerWithoutLeak([]() -> Future<Void> {
        Ends channel;
        Reference<Listener> listener = listenHere();
        Pair pair = co_await makePairAt(Address(0x7F000001, 0));
        CHECK(whyNot([&] { (void)sendListener(channel.from, listener, std::string(371, 'x')); }) ==
              "sendListener(): the name has 371 bytes; it must have at most 370");
        co_await sendListener(channel.from, listener, std::string(370, 'x'));
        CHECK(whyNot([&] { (void)sendListener(pair.client, listener); }) ==
              "sendListener(): the channel is no connection of this machine at a Unix socket");
        CHECK(whyNot([&] { receiveHandedOver(pair.client); }) ==
              "receiveHandedOver(): the channel is no connection of this machine at a Unix socket");
        ConnectionPair simulated = connectionPair();
        CHECK(whyNot([&] { DetachedConnection(simulated.first); }) ==
              "DetachedConnection: a connection with TLS, or of a simulation, cannot be moved");
        CHECK(whyNot([&] { receiveHandedOver(simulated.first); }) ==
              "receiveHandedOver(): the channel is no connection of this machine at a Unix socket");
        listener->close();
        Error closed = co_await endOf(sendListener(channel.from, listener));
        CHECK(closed == operation_obsolete());
        HandedOver handed = co_await receiveHandedOver(channel.to);
        CHECK(handed.name() == std::string(370, 'x'));
    });
}

TEST_CASE("hand over to a process: a channel that the kernel reads ahead is refused") {
    ChosenPoller uring("uring");
    if (!canReceiveAhead())
        return;
    RealLoop loop;
    ForeignPair pair = ForeignPair::ofSocket();
    Reference<Connection> ahead = adoptConnection(::dup(pair[0]), {.readStrategy = ReadStrategy::Ahead});
    CHECK(whyNot([&] { receiveHandedOver(ahead); }) ==
          "receiveHandedOver(): the channel has ReadStrategy::Ahead; it must have another one");
}

TEST_CASE("hand over to a process: the file of a Unix socket stays when the sender closes the listener") {
    onEachPollerWithoutLeak([]() -> Future<Void> {
        TemporaryDirectory folder;
        Address at = Address::unixPath(folder.path() + "/socket");
        Ends channel;
        Reference<Listener> listener = transport().listen(at);
        co_await sendListener(channel.from, listener);
        listener->close();
        {
            HandedOver handed = co_await receiveHandedOver(channel.to);
            Reference<Listener> shared = handed.listener();
            Reference<Connection> client = co_await transport().connect(at);
        }
        CHECK(std::filesystem::exists(folder.path() + "/socket"));
        Reference<Listener> next = transport().listen(at);
        next->close();
        CHECK_FALSE(std::filesystem::exists(folder.path() + "/socket"));
    });
}

TEST_CASE("hand over to a process: without a free descriptor the receive says so, and closes what has come") {
    Death child = runInChild([] {
        RealLoop loop;
        auto test = []() -> Future<int> {
            Ends channel;
            Reference<Listener> listener = listenHere();
            co_await sendListener(channel.from, listener);
            auto waiting = keep(channel.to->readable()); // watches it
            co_await std::move(waiting);
            rlimit none = {3, 3};
            ::setrlimit(RLIMIT_NOFILE, &none);
            std::string why = co_await whyNotReceived(channel.to);
            bool isRight = why.ends_with("could not take it");
            if (!isRight)
                std::fprintf(stderr, "%s\n", why.c_str());
            co_return isRight ? 0 : 1;
        };
        return loop.run(test());
    });
    CHECK_MESSAGE(child.status == 0, child.text);
}
