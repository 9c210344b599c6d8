#include "tests/net/message/message_styles.h"

#include "flow/core/future.h"
#include "flow/fiber/fiber.h"
#include "net/message/message_socket.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;
using namespace flow::test;

namespace {

Future<Void> sendByFiber(MessageSocket* socket) {
    return fiber::spawn([socket] {
        for (int i = 0; i < kMessages; ++i) {
            Message message(numbered(i));
            fiber::wait(socket->send(message));
        }
        return Void();
    });
}
Future<int> receiveByFiber(MessageSocket* socket) {
    return fiber::spawn([socket] {
        int right = 0;
        for (int i = 0; i < kMessages; ++i)
            right += fiber::wait(socket->receive())[0] == numbered(i);
        return right;
    });
}

} // namespace

TEST_CASE("message styles: fibers send and receive, with each other and with coroutines") {
    MessageStyle const fibers{"fiber", sendByFiber, receiveByFiber};
    CHECK(exchange(fibers, fibers) == kMessages);
    CHECK(exchange(fibers, coroutineStyle) == kMessages);
    CHECK(exchange(coroutineStyle, fibers) == kMessages);
}
