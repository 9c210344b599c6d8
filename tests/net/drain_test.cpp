#include "net/drain.h"

#include "flow/core/future.h"
#include "flow/sim/sim_loop.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;

namespace {

struct Queue : Drainable {
    Queue() : Drainable(4, 8) {}
    Drain add(std::size_t bytes) {
        noteWritten(bytes);
        return room();
    }
    void take(std::size_t bytes) {
        noteGone(bytes);
        wakeDrains();
    }
    void end(Error error) {
        error_ = error;
        wakeDrains();
    }
    Drain wrong() { return failed(client_invalid_operation()); }
    using Drainable::empty;
};

} // namespace

TEST_CASE("drain: ready up to the high mark, and above it when the low one is reached") {
    SimLoop loop;
    Queue queue;
    CHECK(queue.add(8).isReady());
    Drain room = queue.add(1);
    CHECK_FALSE(room.isReady());
    queue.take(4);
    CHECK_FALSE(room.isReady());
    queue.take(1);
    CHECK(room.isReady());
    CHECK(queue.queuedBytes() == 4);
    queue.setWaterMarks(0, 0);
    CHECK_FALSE(queue.add(1).isReady());
}

TEST_CASE("drain: until no more than some of what waits now is left, whatever comes behind it") {
    SimLoop loop;
    Queue queue;
    queue.add(5);
    CHECK(queue.drainedTo(5).isReady());
    Drain two = queue.drainedTo(2);
    queue.add(100);
    queue.take(2);
    CHECK_FALSE(two.isReady());
    queue.take(1);
    CHECK(two.isReady());
    CHECK(queue.queuedBytes() == 102);
}

TEST_CASE("drain: a call that has failed does so alone, a queue that ends fails all") {
    SimLoop loop;
    Queue queue;
    Future<Void> wrong = queue.wrong();
    CHECK(wrong.getError() == client_invalid_operation());
    Future<Void> waiting = queue.add(100);
    Future<Void> empty = queue.empty();
    loop.run();
    CHECK_FALSE(waiting.isReady());
    queue.end(connection_reset());
    loop.run();
    CHECK(waiting.getError() == connection_reset());
    CHECK(empty.getError() == connection_reset());
}
