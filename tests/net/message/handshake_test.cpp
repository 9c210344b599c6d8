#include "net/message/detail/handshake.h"

#include <doctest/doctest.h>

using namespace flow::net;

TEST_CASE("handshake: whether two types are compatible does not depend on their order") {
    int pairs = 0;
    for (int a = 0; a <= static_cast<int>(SocketType::XSub); ++a)
        for (int b = 0; b <= static_cast<int>(SocketType::XSub); ++b) {
            auto ours = static_cast<SocketType>(a), theirs = static_cast<SocketType>(b);
            CHECK(mayTalk(ours, nameOf(theirs)) == mayTalk(theirs, nameOf(ours)));
            pairs += mayTalk(ours, nameOf(theirs));
        }
    CHECK(pairs == 21);
    CHECK_FALSE(mayTalk(SocketType::Pair, "pair"));
    CHECK(nameOf(SocketType::Router) == "ROUTER");
    CHECK(nameOf(SocketType::XSub) == "XSUB");
}
