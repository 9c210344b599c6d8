#pragma once
// A stream of numbered messages, sent and received by each style: message_styles_test.cpp pairs them, and
// ../fiber/message_styles_test.cpp adds fibers. They are so large that both sides wait.

#include "flow/core/future.h"
#include "net/message/message_socket.h"

#include <string>

namespace flow::test {

inline constexpr int kMessages = 60;

inline std::string numbered(int number) {
    return std::string(20'000, static_cast<char>('a' + number % 26)) + std::to_string(number);
}

struct MessageStyle {
    char const* name;
    /// All, in order.
    Future<Void> (*send)(net::MessageSocket* socket);
    /// How many of the first kMessages are what was sent. Waits are given up and begun again on the way.
    Future<int> (*receive)(net::MessageSocket* socket);
};

/// Runs both on a loop of its own. The numbers that came in order.
int exchange(MessageStyle const& sender, MessageStyle const& receiver);

extern MessageStyle const coroutineStyle;

// message_styles.actor.cpp
Future<Void> sendByActor(net::MessageSocket* const& socket);
Future<int> receiveByActor(net::MessageSocket* const& socket);

} // namespace flow::test
