#include "flow/inspect/detail/holders.h"

#include "flow/compat/flow_mutex.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/sync/semaphore.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/pending_text.h"

#include <doctest/doctest.h>

#include <string>

using namespace flow;
using test::count, test::has, test::pendingText;

namespace {

Future<Void> pendingLocks(Mutex* first, Mutex* second) {
    Mutex::Lock held = co_await first->lock();
    co_await delay(1.0);
    Mutex::Lock other = co_await second->lock();
}
Future<Void> pendingLocksInTurn(FlowMutex* mutex, Future<Void> go) {
    FlowMutex::Lock lock = co_await mutex->take();
    co_await go;
    lock.release();
    co_await Never();
}
Future<Void> pendingReleases(Semaphore* permits, Future<Void> go) {
    co_await go;
    permits->release();
}
Future<Void> pendingPermits(Semaphore* first, Semaphore* second) {
    Semaphore::Permit held = co_await first->permit(2);
    co_await delay(1.0);
    Semaphore::Permit other = co_await second->permit(2);
}
Future<Void> heldAcquires(Semaphore* permits) {
    co_await permits->acquire();
}

} // namespace

TEST_CASE("holders: of a Mutex, a FlowMutex and Permits, and what may release a Semaphore") {
    SimLoop loop;
    Mutex first, second;
    Future<Void> one = pendingLocks(&first, &second), other = pendingLocks(&second, &first);
    CHECK_THROWS(loop.run(Future<Void>(Never())));
    std::string text = pendingText();
    INFO(text);
    CHECK(count(text, "waits for a Mutex, held by coroutine pendingLocks\n") == 2);
    CHECK(count(text, "\ncycle: coroutine pendingLocks waits for coroutine pendingLocks, which waits for coroutine "
                      "pendingLocks\n") == 1);
    one = other = Never();

    FlowMutex mutex;
    Promise<Void> go;
    Future<Void> holds = pendingLocksInTurn(&mutex, go.getFuture()), waits = pendingLocksInTurn(&mutex, Never());
    text = pendingText();
    INFO(text);
    CHECK(count(text, "a permit of a FlowLock, held by coroutine pendingLocksInTurn\n") == 1);
    go.send(Void());
    loop.run(delay(0.1));
    text = pendingText();
    INFO(text);
    CHECK(!has(text, "held by"));
    holds = waits = Never();

    Semaphore some(2), more(2);
    one = pendingPermits(&some, &more), other = pendingPermits(&more, &some);
    CHECK_THROWS(loop.run(Future<Void>(Never())));
    text = pendingText();
    INFO(text);
    CHECK(count(text, "waits for 2 permits of a Semaphore, held by coroutine pendingPermits\n") == 2);
    CHECK(count(text, "\ncycle: ") == 1);
    one = other = Never();

    Semaphore permits(0);
    Future<Void> acquires = heldAcquires(&permits), releases = pendingReleases(&permits, Never());
    text = pendingText();
    INFO(text);
    CHECK(has(text, "waits for a permit of a Semaphore, to which coroutine pendingReleases refers\n"));
}
