// Long chains of each function of flow/combine that makes a future of a future: they end, fail and are cancelled in
// constant stack.
#include "flow/combine/errors.h"
#include "flow/combine/lifetime.h"
#include "flow/combine/map.h"
#include "flow/combine/timeout.h"
#include "flow/compat/async_trigger.h"
#include "flow/compat/collection.h"
#include "flow/compat/wait_for_all.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/yielded.h"
#include "tests/flow/support/small_stack.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;
using namespace flow::test;

namespace {

/// Few, to be quick, but on a stack on which a call for each would not fit: the smallest takes 16 bytes.
constexpr int kLinks = kManyLinks / 4;
constexpr std::size_t kStack = kSmallStack / 4;
static_assert(16 * kLinks > static_cast<int>(kStack) || FLOW_SYSTEM_BLOCKS);

template <class T>
void chain(const char* name, Future<T> (*link)(Future<T>)) {
    SimLoop loop;
    for (int end = 0; end < 4; ++end) {
        INFO(std::string(name));
        CAPTURE(end);
        Promise<T> promise;
        Future<T> last = promise.getFuture();
        for (int i = 0; i < kLinks; ++i)
            last = link(std::move(last));
        if (end == 0)
            promise.send(T());
        else if (end == 1)
            promise.sendError(timed_out());
        else if (end == 2)
            last.cancel();
        if (end < 2)
            loop.run(); // what is left of it takes its turns
        CHECK(last.isReady() == (end != 3));
        last = Future<T>();
        CHECK(promise.getFutureReferenceCount() == 0);
    }
}

/// Without cancels.
void uncancellableChain() {
    for (bool fails : {false, true}) {
        Promise<int> promise;
        Future<int> last = promise.getFuture();
        for (int i = 0; i < kLinks; ++i)
            last = uncancellable(std::move(last));
        fails ? promise.sendError(timed_out()) : promise.send(1);
        CHECK(last.isReady());
    }
}

} // namespace

TEST_CASE("long chain: of what becomes of values and errors") {
    onSmallStack(kStack, [] {
        chain<int>("map", [](Future<int> f) { return map(f, [](int n) { return n + 1; }); });
        chain<int>("mapAsync", [](Future<int> f) { return mapAsync(f, [](int n) { return Future<int>(n); }); });
        chain<int>("holdWhile", [](Future<int> f) { return holdWhile(1, f); });
        chain<Void>("holdWhileVoid", [](Future<Void> f) { return holdWhileVoid(1, f); });
        chain<int>("brokenPromiseToNever", [](Future<int> f) { return brokenPromiseToNever(f); });
        chain<int>("waitOrError", [](Future<int> f) { return waitOrError(f, Never()); });
        chain<Void>("trigger", [](Future<Void> f) { return trigger([] {}, f); });
        uncancellableChain();
    });
}

TEST_CASE("long chain: of what takes time") {
    onSmallStack(kStack, [] {
        chain<int>("timeout", [](Future<int> f) { return timeout(f, 10, -1); });
        chain<int>("timeoutError", [](Future<int> f) { return timeoutError(f, 10); });
        chain<Void>("yieldedFuture", [](Future<Void> f) { return yieldedFuture(f); });
    });
}

TEST_CASE("long chain: of several futures") {
    onSmallStack(kStack, [] {
        chain<Void>("success", [](Future<Void> f) { return success(f); });
        chain<Void>("operator&&", [](Future<Void> f) { return f && Future<Void>(Void()); });
        chain<Void>("operator||", [](Future<Void> f) { return f || Never(); });
        chain<Void>("waitForAllReady", [](Future<Void> f) {
            std::vector<Future<Void>> all(1, f);
            return waitForAllReady(all);
        });
        chain<int>("getAll", [](Future<int> f) {
            std::vector<Future<int>> all(1, f);
            return map(getAll(all), [](std::vector<int> const& values) { return values[0]; });
        });
    });
}

TEST_CASE("long chain: of collections") {
    onSmallStack(kStack, [] {
        chain<Void>("ActorCollection", [](Future<Void> f) {
            auto owns = [](Future<Void> actor, Propagate = {}) -> Future<Void> {
                ActorCollection all(true);
                all.add(std::move(actor));
                co_await all.getResult();
            };
            return owns(std::move(f));
        });
    });
}
