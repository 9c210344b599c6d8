// Every allocation of every operation fails once: the caller gets std::bad_alloc (or a future that failed), nothing
// leaks, and the same operation works again afterwards.
#include "flow/memory/fast_allocator.h"

#include "flow/actor/runtime.h"
#include "flow/lib/all.h"
#include "flow/lib/collection.h"
#include "flow/lib/time.h"
#include "flow/sim/sim_loop.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace flow;
using namespace flow::detail;
using namespace flow::test;

namespace {

void* noChunks(std::size_t) {
    return nullptr;
}

/// While it lives no block of one class can be had but those that it lets go, and no class can grow.
class Shortage {
public:
    explicit Shortage(memory::SizeClass sizeClass) : sizeClass_(sizeClass), before_(memory::setChunkSource(noChunks)) {
        takeAll();
    }
    Shortage(Shortage const&) = delete;
    ~Shortage() {
        memory::setChunkSource(before_);
        letGo(held_.size());
    }

    void letGo(std::size_t count) {
        for (; count > 0; --count) {
            memory::release(held_.back(), sizeClass_);
            held_.pop_back();
        }
    }
    void takeAll() {
        try {
            for (;;)
                held_.push_back(memory::allocate(memory::blockBytes(sizeClass_)));
        } catch (std::bad_alloc&) {
        }
    }

private:
    memory::SizeClass sizeClass_;
    memory::ChunkSource before_;
    std::vector<void*> held_;
};

/// Runs `operation` once for each of its allocations, which then fails. Returns how often it failed.
template <class Operation>
int failEach(Operation operation) {
    operation(); // from here on everything comes from the free lists
    std::vector<std::uint64_t> uses;
    for (memory::SizeClass c = 0; c < memory::kSystemClass; ++c)
        uses.push_back(memory::statistics(c).allocated);
    operation();
    for (memory::SizeClass c = 0; c < memory::kSystemClass; ++c)
        uses[c] = memory::statistics(c).allocated - uses[c];
    int failures = 0;
    for (memory::SizeClass c = 0; c < memory::kSystemClass; ++c) {
        if (uses[c] == 0)
            continue;
        Shortage shortage(c);
        for (std::size_t left = 0; left < uses[c]; ++left) {
            Blocks blocks;
            shortage.letGo(left);
            try {
                operation();
            } catch (std::bad_alloc&) {
                ++failures;
            }
            CHECK(blocks.leaked() == -static_cast<long>(left)); // all that was let go is free again
            shortage.takeAll();
            CHECK(blocks.leaked() == 0);
        }
    }
    operation();
    CHECK(failures > 0);
    return failures;
}

Future<int> child(Future<int> awaited) {
    std::string local = "some state";
    co_return co_await std::move(awaited);
}
Future<int> parent(Future<int> awaited) {
    int first = co_await child(awaited);
    co_return first + co_await child(std::move(awaited));
}
Future<Void> sleeper(double seconds) {
    co_await delay(seconds);
}

// ACTOR Future<std::string> named(std::string name, Future<int> f) { int v = wait(f); return name; }
struct NamedActorState {
    std::string name;
    Future<int> f;
    NamedActorState(std::string const& arg_name, Future<int> const& arg_f) : name(arg_name), f(arg_f) {}
    actor::Exit a_body(actor::Frame<std::string>& actor_) {
        Pending wait_;
        if (actor_.entry() == 0) {
            wait_ = pending<int>(f);
            if (!actor_.ready(wait_))
                return actor_.park(wait_, 1);
        } else {
            wait_ = actor_.resumed();
        }
        if (wait_.failed())
            return actor_.fail(wait_.takeError());
        wait_.drop();
        return actor_.finish(name);
    }
};
struct NamedActor final : actor::Actor<std::string, NamedActorState> {};
Future<std::string> named(std::string const& name, Future<int> const& f) {
    return actor::start<NamedActor>(name, f);
}

} // namespace

// With AddressSanitizer blocks come from the system, which does not run out.
TEST_SUITE_BEGIN("exhaustion" * doctest::skip(FLOW_SYSTEM_BLOCKS));

TEST_CASE("exhaustion: futures and promises") {
    CHECK(failEach([] {
              Future<std::string> value = std::string("value");
              Promise<int> promise;
              Future<int> failed = timed_out();
              Future<int> never = Never();
              promise.send(1);
          }) >= 4);
}

TEST_CASE("exhaustion: coroutines") {
    CHECK(failEach([] {
              Promise<int> promise;
              Future<int> sum = parent(promise.getFuture());
              promise.send(1);
              CHECK((sum.isError() || sum.get() == 2));
          }) >= 2);
}

TEST_CASE("exhaustion: state machines") {
    CHECK(failEach([] {
              Promise<int> promise;
              Future<std::string> one = named("one", promise.getFuture());
              Future<std::string> two = named("two", promise.getFuture());
              promise.send(1);
              CHECK(one.get() + two.get() == "onetwo");
          }) >= 3);
}

TEST_CASE("exhaustion: delays, as futures and in place") {
    failEach([] {
        SimLoop loop;
        Future<Void> alarm = delay(1);
        Future<Void> soon = delay(0);
        std::vector<Future<Void>> inPlace;
        for (int i = 0; i < 4; ++i)
            inPlace.push_back(sleeper(2));
        for (Future<Void> const& one : inPlace)
            CHECK((!one.isReady() || one.getError() == unknown_error()));
        loop.run();
        CHECK(alarm.canGet());
    });
}

TEST_CASE("exhaustion: quorums hold their inputs until they are made, and give them back if they cannot be") {
    failEach([] {
        SimLoop loop;
        Promise<int> a, b;
        std::vector<Future<int>> inputs = {a.getFuture(), b.getFuture()};
        auto operation = [&] {
            Future<Void> all = waitForAll(inputs);
            Future<Void> mixed = (a.getFuture() && delay(1)) || Never() || success(b.getFuture());
            a.send(1);
            b.send(1);
            CHECK(all.canGet());
        };
        try {
            operation();
        } catch (std::bad_alloc&) {
            CHECK(a.getFutureReferenceCount() == 1);
            CHECK(b.getFutureReferenceCount() == 1);
            throw;
        }
    });
}

TEST_CASE("exhaustion: races and timeouts, also with a delay that already stands in its queue") {
    failEach([] {
        SimLoop loop;
        Promise<int> promise;
        auto racer = [](Future<int> awaited) -> Future<int> {
            auto first =
                co_await race(delay(1), std::move(awaited), [] { return delay(2); }, [] { return sleeper(3); });
            co_return static_cast<int>(first.index());
        };
        Future<int> raced = racer(promise.getFuture());
        Future<int> limited = timeout(promise.getFuture(), 5, -1);
        Future<int> strict = timeoutError(promise.getFuture(), 6);
        promise.send(1);
        CHECK((raced.isError() || raced.get() == 1));
        loop.run();
        CHECK(loop.now() == 0); // no timer was left behind
    });
}

TEST_CASE("exhaustion: streams keep what they have") {
    failEach([] {
        PromiseStream<std::string> out;
        FutureStream<std::string> in = out.getFuture();
        int sent = 0;
        try {
            for (; sent < 40; ++sent)
                out.send(std::to_string(sent));
        } catch (std::bad_alloc&) {
            for (int i = 0; i < sent; ++i)
                CHECK(in.pop() == std::to_string(i));
            CHECK_FALSE(in.isReady());
            throw;
        }
    });
}

TEST_CASE("exhaustion: collections drop the actor that they cannot hold") {
    failEach([] {
        Promise<int> promise;
        ActorCollection all(true);
        auto member = [](Future<int> awaited) -> Future<Void> { co_await std::move(awaited); };
        try {
            for (int i = 0; i < 3; ++i)
                all.add(member(promise.getFuture()));
        } catch (std::bad_alloc&) {
            promise.send(1);
            CHECK((all.isEmpty() || !all.getResult().isReady()));
            throw;
        }
        promise.send(1);
        CHECK(all.getResult().canGet());
    });
}

TEST_SUITE_END();
