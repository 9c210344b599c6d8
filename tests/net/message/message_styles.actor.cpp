// The actors of message_styles_test.cpp.

#include "tests/net/message/message_styles.h"

#include "flow/flow.h"

#include "flow/actorcompiler.h" // must be the last include

namespace flow::test {

ACTOR Future<Void> sendByActor(net::MessageSocket* socket) {
    state net::Message message;
    state int i = 0;
    for (; i < kMessages; ++i) {
        message.add(numbered(i));
        wait(socket->send(message));
    }
    return Void();
}

ACTOR Future<int> receiveByActor(net::MessageSocket* socket) {
    state int right = 0;
    state int received = 0;
    while (received < kMessages) {
        choose {
            when(net::Message message = wait(socket->receive())) {
                right += message[0] == numbered(received++);
            }
            when(wait(delay(0.0001))) {}
        }
    }
    return right;
}

} // namespace flow::test
