#include "net/rpc/failure_monitor.h"

#include "flow/base/uid.h"
#include "flow/coro/coroutine.h"
#include "flow/loop/real_loop.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

using namespace flow;
using namespace flow::net;

TEST_CASE("failure monitor: states, and waiters for them") {
    RealLoop loop;
    loop.run([]() -> Future<Void> {
        FailureMonitor monitor;
        Address at(1, 2);
        Endpoint one{{at, {}}, UID(3, 4), false}, two{{at, {}}, UID(3, 5), false};
        CHECK(monitor.getState(one).isAvailable());
        Future<Void> failed = monitor.onStateEqual(one, FailureStatus(true));
        Future<Void> disconnected = monitor.onDisconnectOrFailure(two);
        Future<Void> longFailed = monitor.onFailedFor(one, 0.05);
        monitor.setStatus(at, FailureStatus(true));
        CHECK(monitor.getState(at).isFailed());
        CHECK(!failed.isReady()); // in a turn of its own
        co_await std::move(failed);
        co_await std::move(disconnected);
        co_await std::move(longFailed);
        CHECK(!monitor.onlyEndpointFailed(one));
        monitor.setStatus(at, FailureStatus(false));
        Future<Void> changed = monitor.onStateChanged(two);
        monitor.endpointNotFound(one);
        CHECK(monitor.onlyEndpointFailed(one));
        CHECK(monitor.getState(two).isAvailable());
        Future<Void> again = monitor.onDisconnect(at);
        monitor.notifyDisconnect(at);
        co_await std::move(again);
        co_await std::move(changed);
        // One that is back in time has not failed for so long.
        monitor.setStatus(at, FailureStatus(true));
        Future<Void> never = monitor.onFailedFor(two, 1000);
        co_await delay(0, TaskPriority::Low);
        monitor.setStatus(at, FailureStatus(false));
        co_await monitor.onStateEqual(one, FailureStatus(false)); // a connection forgets endpoints that did not exist
        CHECK(!never.isReady());
    }());
}
