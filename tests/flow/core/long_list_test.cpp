// Long lists with links that are values of futures: they are destroyed in constant stack, like chains of actors.
#include "flow/core/cell.h"

#include "flow/compat/async_map.h"
#include "flow/compat/flow_lock.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

using namespace flow;
using namespace flow::detail;
using namespace flow::test;

namespace {

/// More than fit into a small stack within each other.
constexpr int kDeep = 20000;

struct Node {
    int number;
    Future<Node> next;
};

/// A link that is the result of a coroutine.
Future<Node> cons(int number, Future<Node> next) {
    co_return Node{number, std::move(next)};
}

/// A value that holds an actor, which holds a value, and so on.
struct Holder {
    Future<Void> actor;
};
Future<Void> holds(Future<Holder>, Future<Void> awaited) {
    co_await awaited;
}

/// A stream with one element, the next stream.
struct Item {
    FutureStream<Item> next;
};

struct NoisyNode {
    Noisy noisy;
    Future<NoisyNode> next;
};

} // namespace

TEST_CASE("long list: values that hold the next future") {
    onSmallStack(kSmallStack, [] {
        Blocks blocks;
        for (bool coroutine : {false, true}) {
            Future<Node> list;
            for (int i = 0; i < kManyLinks; ++i)
                list = coroutine ? cons(i, std::move(list)) : Future<Node>(Node{i, std::move(list)});
            CHECK(list.get().next.get().number == kManyLinks - 2);
            list = Future<Node>();
            CHECK(blocks.leaked() == 0);
        }
    });
}

TEST_CASE("long list: values and actors in turn") {
    onSmallStack(kSmallStack, [] {
        Blocks blocks;
        {
            Promise<Void> never;
            for (bool valueFirst : {false, true}) {
                Future<Holder> value = Holder{};
                Future<Void> actor;
                for (int i = 0; i < kManyLinks / 2; ++i) {
                    actor = holds(std::move(value), never.getFuture());
                    value = Holder{std::move(actor)};
                }
                if (!valueFirst)
                    actor = holds(std::move(value), never.getFuture());
                value = Future<Holder>();
                actor = Future<Void>();
                CHECK(never.getFutureReferenceCount() == 0);
            }
        }
        CHECK(blocks.leaked() == 0);
    });
}

TEST_CASE("long list: streams in streams") {
    onSmallStack(kSmallStack, [] {
        Blocks blocks;
        {
            FutureStream<Item> list;
            for (int i = 0; i < kManyLinks; ++i) {
                PromiseStream<Item> link;
                FutureStream<Item> reader = link.getFuture();
                link.send(Item{std::move(list)});
                list = std::move(reader);
            }
        }
        CHECK(blocks.leaked() == 0);
    });
}

TEST_CASE("long list: promises that break each other, in nested destructors") {
    onSmallStack(kSmallStack, [] {
        Blocks blocks;
        {
            static int deepest, depth;
            deepest = depth = 0;
            struct Breaks {
                explicit Breaks(Promise<Void> p) : promise(std::move(p)) {}
                ~Breaks() {
                    deepest = std::max(deepest, ++depth);
                    promise = Promise<Void>();
                    --depth;
                }
                Promise<Void> promise;
            };
            auto link = [](Future<Void> previous, std::unique_ptr<Breaks>, Propagate = {}) -> Future<Void> {
                co_await previous;
            };
            Promise<Void> first;
            std::vector<Future<Void>> all;
            Future<Void> previous = first.getFuture();
            for (int i = 0; i < kDeep; ++i) {
                Promise<Void> own;
                Future<Void> next = own.getFuture();
                all.push_back(link(previous, std::make_unique<Breaks>(std::move(own))));
                previous = next;
            }
            first = Promise<Void>();
            int broken = 0;
            for (Future<Void> const& each : all)
                broken += each.getError() == broken_promise();
            CHECK(broken == kDeep);
            CHECK(previous.getError() == broken_promise());
            CHECK(deepest == kDeep);
        }
        CHECK(blocks.leaked() == 0);
    });
}

TEST_CASE("long list: a later waiter can be cancelled meanwhile, and is called only once") {
    onSmallStack(kSmallStack, [] {
        TraceLog log;
        static Future<Void> victim;
        auto link = [](Future<Void> previous, Promise<Void>, Propagate = {}) -> Future<Void> { co_await previous; };
        auto tells = [](TraceLog& said, const char* name, Future<Void> future, bool cancels) -> Future<Void> {
            ErrorOr<Void> result = co_await tryGet(std::move(future));
            said.say(std::string(name) + "=" + result.getError().name());
            if (cancels)
                victim = Future<Void>();
        };
        for (int links : {3, 200, kDeep}) {
            Promise<Void> first;
            std::vector<Future<Void>> all;
            Future<Void> previous = first.getFuture();
            for (int i = 0; i < links; ++i) {
                Promise<Void> own;
                Future<Void> next = own.getFuture();
                all.push_back(link(previous, std::move(own)));
                previous = next;
            }
            victim = tells(log, "victim", previous, false);
            Future<Void> canceller = tells(log, "canceller", previous, true);
            Future<Void> bystander = tells(log, "bystander", previous, false);
            first = Promise<Void>();
            CHECK(log.take() == "bystander=broken_promise canceller=broken_promise victim=operation_cancelled");
            CHECK_FALSE(victim.isValid());
        }
    });
}

namespace {

/// Holds an actor while it waits for something else.
Future<Void> around([[maybe_unused]] Future<Void> inner, Propagate = {}) {
    co_await Never();
}

/// Each level has something that the next refers to.
Future<Void> refersToParent(int levels, int* parents, int* right) {
    struct Looks {
        int* what;
        int* right;
        ~Looks() { *right += *what == 1; }
    } looks{parents, right};
    struct Mine {
        int alive = 1;
        ~Mine() { alive = 0; }
    } mine;
    co_await delay(0); // so that they do not begin within each other
    Future<Void> child;
    if (levels > 1)
        child = refersToParent(levels - 1, &mine.alive, right);
    co_await Never();
}

Future<Void> holdsAndWaits(FlowLock& lock) {
    co_await lock.take();
    FlowLock::Releaser releaser(lock);
    Future<Void> another = lock.take();
    co_await Never();
}

} // namespace

namespace {

void childrenGoFirst(int levels) {
    SimLoop loop;
    int root = 1, right = 0;
    Future<Void> tree = refersToParent(levels, &root, &right);
    loop.run(delay(1));
    tree = Future<Void>();
    CHECK(right == levels);
}

void permitsComeBack(int levels) {
    SimLoop loop;
    FlowLock lock(1);
    Future<Void> list = holdsAndWaits(lock);
    for (int i = 0; i < levels; ++i)
        list = around(std::move(list));
    list = Future<Void>();
    loop.run(delay(1));
    CHECK(lock.available() == 1);
    CHECK(lock.waiters() == 0);
}

/// The innermost actor holds something that refers to what is declared before it.
Future<Void> ownsMap(Promise<Void> passed, Future<Void> awaited, Propagate = {}) {
    auto map = std::make_unique<AsyncMap<int, int>>();
    Future<Void> watch = map->onChange(1);
    co_await awaited;
    (void)passed;
}

void watchesGoBeforeTheirMaps(int levels) {
    Promise<Void> first;
    std::vector<Future<Void>> all;
    Future<Void> previous = first.getFuture();
    for (int i = 0; i < levels; ++i) {
        Promise<Void> own;
        Future<Void> next = own.getFuture();
        all.push_back(ownsMap(std::move(own), previous));
        previous = next;
    }
    previous = Future<Void>();
    first = Promise<Void>();
    CHECK(all.back().getError() == broken_promise());
}

} // namespace

// Whatever happens where a stack ends happens at one depth only, so each is tried. Frames are larger under
// AddressSanitizer.
constexpr std::size_t kTinyStack = (FLOW_SYSTEM_BLOCKS ? 256 : 64) << 10;

TEST_CASE("long list: a child is destroyed before what it refers to in its parent, at any depth") {
    onForeignStack([] {
        for (int levels = 1; levels < 100; ++levels)
            childrenGoFirst(levels);
    });
    onSmallStack(kTinyStack, [] {
        for (int levels = 1; levels < 600; ++levels)
            childrenGoFirst(levels);
    });
    childrenGoFirst(1000);
    onSmallStack(kSmallStack, [] { childrenGoFirst(kDeep); });
}

TEST_CASE("long list: permits come back from any depth") {
    onForeignStack([] {
        for (int levels = 20; levels < 100; ++levels)
            permitsComeBack(levels);
    });
    onSmallStack(kTinyStack, [] {
        for (int levels = 1; levels < 400; ++levels)
            permitsComeBack(levels);
    });
}

TEST_CASE("long list: a watch is destroyed before its map, at any depth") {
    onForeignStack([] {
        for (int levels = 20; levels < 100; ++levels)
            watchesGoBeforeTheirMaps(levels);
    });
    onSmallStack(kTinyStack, [] {
        for (int levels = 1; levels < 400; ++levels)
            watchesGoBeforeTheirMaps(levels);
    });
}

TEST_CASE("long list: a short one is destroyed at once, from the head on") {
    TraceLog log;
    Future<NoisyNode> list;
    for (const char* name : {"c", "b", "a"})
        list = NoisyNode{Noisy(log, name), std::move(list)};
    list = Future<NoisyNode>();
    CHECK(log.take() ==
          "~c ~b ~a"); // members are destroyed in reverse order: the rest of the list before the node's own part
}

namespace {

Future<Void> passes(Future<Void> f, Propagate = {}) {
    co_await f;
}
Future<Void> swallows(Future<Void> f, int* done) {
    co_await tryGet(std::move(f));
    ++*done;
}

} // namespace

// The chain continues in a waiter that is not the last to run, so that each link must return.
TEST_CASE("long list: waiters behind which others wait at each link") {
    onSmallStack(kSmallStack, [] {
        for (bool isOlder : {false, true})
            for (int end = 0; end < 4; ++end) {
                CAPTURE(isOlder);
                CAPTURE(end);
                int done = 0;
                Promise<Void> promise;
                Future<Void> last = promise.getFuture();
                std::vector<Future<Void>> others;
                for (int i = 0; i < kDeep; ++i) {
                    Future<Void> before = last;
                    if (isOlder)
                        others.push_back(swallows(before, &done));
                    last = passes(before);
                    if (!isOlder)
                        others.push_back(swallows(before, &done));
                }
                if (end == 0)
                    promise.send(Void());
                else if (end == 1)
                    promise.sendError(timed_out());
                else if (end == 2)
                    promise = Promise<Void>();
                else
                    last.cancel();
                CHECK(last.isReady());
                CHECK(done == (end == 3 ? 0 : kDeep));
            }
    });
}
