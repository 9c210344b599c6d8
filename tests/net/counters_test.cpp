#include "net/counters.h"

#include <doctest/doctest.h>

using namespace flow::net;

TEST_CASE("counters: system calls are those of the sockets and those of the poller") {
    LoopCounters all;
    CHECK(all.systemCalls() == 0);
    all.sockets.reads = 1;
    all.sockets.writes = 10;
    all.sockets.emptyReads = all.sockets.blockedWrites = 1; // these are among them
    all.sockets.bytesRead = all.sockets.bytesWritten = all.sockets.news = all.sockets.arrivals = 5000;
    CHECK(all.sockets.systemCalls() == 11);
    all.polls.waits = 100;
    all.polls.changes = 1000;
    all.polls.wakeUps = 5000;
    CHECK(all.systemCalls() == 1111);
}
