#include "tests/net/message/message_styles.h"

#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"
#include "flow/wait/handler_slot.h"
#include "net/message/message_socket.h"
#include "tests/flow/support/balance.h"

#include <doctest/doctest.h>

#include <string>

namespace flow::test {

using namespace net;

namespace {

Future<Void> sendByCoroutine(MessageSocket* socket) {
    for (int i = 0; i < kMessages; ++i) {
        Message message(numbered(i));
        co_await socket->send(message);
    }
}
Future<int> receiveByCoroutine(MessageSocket* socket) {
    int right = 0;
    for (int received = 0; received < kMessages;) {
        auto first = co_await race(socket->receive(), delay(0.0001));
        if (first.index() == 0)
            right += std::get<0>(first)[0] == numbered(received++);
    }
    co_return right;
}

struct Sender {
    MessageSocket* socket;
    int sent = 0;
    Message message{};
    HandlerSlot slot{};
    Promise<Void> all{};

    void next() {
        if (sent == kMessages)
            return all.send(Void());
        message.add(numbered(sent++));
        call(socket->send(message), slot, [this](Error error) { error.isValid() ? all.sendError(error) : next(); });
    }
};
Future<Void> sendByCallbacks(MessageSocket* socket) {
    Sender sender{socket};
    sender.next();
    co_await sender.all.getFuture();
}

struct Receiver {
    MessageSocket* socket;
    int received = 0;
    int right = 0;
    HandlerSlot slot{};
    Promise<int> all{};

    void next() {
        if (received == kMessages)
            return all.send(right);
        for (int i = 0; i < 2; ++i) { // the first one has received nothing
            slot.cancel();
            call(socket->receive(), slot, [this](Error error, Message message) {
                if (error.isValid())
                    return all.sendError(error);
                right += message[0] == numbered(received++);
                next();
            });
        }
    }
};
Future<int> receiveByCallbacks(MessageSocket* socket) {
    Receiver receiver{socket};
    receiver.next();
    int right = co_await receiver.all.getFuture();
    co_return right;
}

/// Without an operation that waits.
Future<Void> sendByTrying(MessageSocket* socket) {
    for (int i = 0; i < kMessages; ++i) {
        Message message(numbered(i));
        while (!socket->trySend(message)) {
            CHECK(message[0] == numbered(i));
            co_await delay(0.0001);
        }
        CHECK(message.isEmpty());
    }
}
Future<int> receiveByPolling(MessageSocket* socket) {
    int right = 0;
    for (int received = 0; received < kMessages;) {
        MessageSocket::Receive receive = socket->receive();
        if (receive.isReady())
            right += receive.take()[0] == numbered(received++);
        else
            co_await delay(0.0001);
    }
    co_return right;
}

Future<int> exchangeOnLoop(MessageStyle const* sender, MessageStyle const* receiver) {
    MessageOptions small;
    small.sndHwm = 2;
    small.rcvHwm = 2;
    small.sndBuf = small.rcvBuf = 4096;
    MessageSocket pull(SocketType::Pull, small), push(SocketType::Push, small);
    push.connect(pull.bind("tcp://127.0.0.1:*"));
    Future<Void> sending = sender->send(&push);
    CHECK_FALSE(sending.isReady());
    Future<int> receiving = receiver->receive(&pull);
    co_await sending;
    int right = co_await receiving;
    CHECK(push.counters().sent == kMessages);
    CHECK(pull.counters().received == kMessages);
    co_return right;
}

} // namespace

MessageStyle const coroutineStyle{"coroutine", sendByCoroutine, receiveByCoroutine};

int exchange(MessageStyle const& sender, MessageStyle const& receiver) {
    CAPTURE(std::string(sender.name));
    CAPTURE(std::string(receiver.name));
    test::Balance balance;
    RealLoop loop;
    return loop.run(exchangeOnLoop(&sender, &receiver));
}

} // namespace flow::test

using namespace flow::test;

TEST_CASE("message styles: coroutines, actors, callbacks and trySend() send and receive, each with each") {
    MessageStyle const styles[] = {
        coroutineStyle,
        {"actor", [](flow::net::MessageSocket* socket) { return sendByActor(socket); },
         [](flow::net::MessageSocket* socket) { return receiveByActor(socket); }},
        {"callback", sendByCallbacks, receiveByCallbacks},
        {"trySend", sendByTrying, receiveByPolling},
    };
    for (MessageStyle const& sender : styles)
        for (MessageStyle const& receiver : styles)
            CHECK(exchange(sender, receiver) == kMessages);
}
