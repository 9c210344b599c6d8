#include "net/message/detail/peer.h"

#include "flow/core/future.h"
#include "flow/loop/real_loop.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;

TEST_CASE("peer: it ends once, for the first reason, and its waiter resumes in a turn of its own") {
    RealLoop loop;
    Peer peer(nullptr);
    Future<Void> over = keep(Peer::Over{&peer});
    CHECK_FALSE(over.isReady());
    peer.end(zmtp::Fault::BadFlags);
    peer.end(zmtp::Fault::BadCommand);
    CHECK(peer.fault == zmtp::Fault::BadFlags);
    CHECK_FALSE(over.isReady());
    loop.run(over);
    CHECK(peer.available() == 0);
    peer.putInbox(Message("x"));
    CHECK(peer.available() == 1);
}
