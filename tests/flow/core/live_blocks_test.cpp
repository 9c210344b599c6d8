#include "flow/core/detail/live_blocks.h"

#include "flow/combine/race.h"
#include "flow/compat/async_trigger.h"
#include "flow/compat/collection.h"
#include "flow/compat/flow_lock.h"
#include "flow/compat/flow_mutex.h"
#include "flow/compat/wait_for_all.h"
#include "flow/core/stream.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/sync/async_var.h"
#include "flow/wait/delay.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace flow;
using detail::Cell;

namespace live_blocks_actors { // live_blocks_actors.actor.cpp
extern std::vector<std::string> log_;
Future<Void> handles(Future<Void> const& what);
Future<Void> inHandler(Future<Void> const& what);
Future<Void> chooses(Future<Void> const& what, FutureStream<int> const& numbers);
Future<Void> goesOn(Future<Void> const& what);
void nobodyWaits(Future<Void> const& what);
} // namespace live_blocks_actors

namespace {

std::vector<std::string> events;

/// Logs its destruction.
struct Mark {
    explicit Mark(std::string n) : name(std::move(n)) {}
    Mark(Mark&& other) noexcept : name(std::exchange(other.name, "")) {}
    ~Mark() {
        if (!name.empty())
            events.push_back("~" + name);
    }
    std::string name;
};

Future<Void> stubborn(Future<Void> what, Mark) {
    for (;;) {
        try {
            co_await what;
            events.push_back("went on");
        } catch (Error& e) {
            events.push_back(std::string("caught ") + e.name());
        }
    }
}
Future<Void> detached(Uncancellable, Future<Void> what, Mark) {
    co_await what;
    events.push_back("detached went on");
}
Future<int> passing(Future<int> what, Mark, Propagate = {}) {
    co_return co_await what + 1;
}

/// A liveBlocks, and all that is made in a group of it.
struct CountedBlock {
    LiveBlocks liveBlocks;
    CellGroup group;

    CountedBlock() {
        events.clear();
        liveBlocks.enter(&group);
    }
    ~CountedBlock() { liveBlocks.enter(nullptr); }

    int cells() const {
        int count = 0;
        group.forEach([&](Cell*) { ++count; });
        return count;
    }
};

} // namespace

TEST_CASE("liveBlocks: lists the cells of a group, oldest first") {
    CountedBlock world;
    CHECK(world.group.isEmpty());
    Promise<int> first;
    Promise<std::string> second;
    CellGroup other;
    world.liveBlocks.enter(&other);
    Promise<int> third;
    world.liveBlocks.enter(&world.group);
    std::vector<Cell*> found;
    world.group.forEach([&](Cell* cell) { found.push_back(cell); });
    CHECK(found == std::vector<Cell*>{first.getFuture().cell(), second.getFuture().cell()});
    first = Promise<int>();
    CHECK(world.cells() == 2);
}

TEST_CASE("liveBlocks: frames are destroyed, and none of them runs on") {
    SimLoop loop;
    CountedBlock world;
    Promise<Void> never;
    Promise<int> number;
    Future<Void> a = stubborn(never.getFuture(), Mark("stubborn"));
    (void)detached(Uncancellable(), never.getFuture(), Mark("detached"));
    Future<int> c = passing(number.getFuture(), Mark("passing"));
    Future<int> d = passing(c, Mark("passing more"));
    world.group.destroyFrames();
    CHECK(events == std::vector<std::string>{"~detached", "~passing more", "~passing", "~stubborn"});
    CHECK(!a.isReady());
    CHECK(!d.isReady());
    never.send(Void());
    number.send(1);
    CHECK(events.size() == 4);
    a = Future<Void>();
    c = d = Future<int>();
    CHECK(world.cells() == 2); // the promises
}

TEST_CASE("liveBlocks: frames in every kind of queue are destroyed") {
    SimLoop loop;
    CountedBlock world;
    std::vector<Future<Void>> held;
    AsyncVar<int> variable(1);
    AsyncTrigger trigger;
    FlowLock lock(1);
    FlowMutex mutex;
    PromiseStream<int> stream;
    auto in = [](Future<Void> what, Mark) -> Future<Void> {
        try {
            co_await what;
        } catch (Error&) {
            events.push_back("ran");
        }
        events.push_back("ran");
    };
    auto raced = [](Future<Void> one, FutureStream<int> numbers, Mark) -> Future<Void> {
        co_await race(one, numbers, delay(5));
        events.push_back("ran");
    };
    held.push_back(lock.take());
    Future<FlowMutex::Lock> holder = mutex.take();
    held.push_back(in(lock.take(), Mark("lock")));
    held.push_back(in(delay(1), Mark("delay")));
    held.push_back(in(variable.onChange(), Mark("variable")));
    held.push_back(in(trigger.onTrigger(), Mark("trigger")));
    held.push_back(in(success(mutex.take()), Mark("mutex")));
    held.push_back(in(waitForAll(std::vector<Future<Void>>{Never(), delay(2)}), Mark("all")));
    held.push_back(raced(Never(), stream.getFuture(), Mark("race")));
    ActorCollection collection(false);
    collection.add(in(Never(), Mark("collection")));
    held.push_back(collection.getResult());
    world.group.destroyFrames();
    events.erase(std::remove_if(events.begin(), events.end(), [](auto& e) { return e[0] == '~'; }), events.end());
    CHECK(events.empty());
    loop.run();
    variable.set(2);
    trigger.trigger();
    stream.send(1);
    lock.release();
    CHECK(events.empty());
}

TEST_CASE("liveBlocks: a stopped machine's computations go with their last future, and none runs on") {
    SimLoop loop;
    CountedBlock world;
    Promise<Void> never;
    Promise<int> number;
    auto owns = [](Future<Void> first, Mark, Future<int> second) -> Future<Void> {
        co_await first;
        co_await second;
    };
    Future<Void> owner = owns(stubborn(never.getFuture(), Mark("stubborn")), Mark("owner"),
                              passing(number.getFuture(), Mark("passing")));
    Future<Void> other = stubborn(never.getFuture(), Mark("other"));
    (void)detached(Uncancellable(), never.getFuture(), Mark("detached"));
    {
        StoppedMachine stopped(world.group);
        CHECK(events.empty());
        never.send(Void());
        stopped.destroyDetached();
        CHECK(events == std::vector<std::string>{"~detached"});
        Future<Void> same = owner;
        owner = Future<Void>();
        CHECK(events.size() == 1);
        same.cancel(); // as a collection does with what it holds
        CHECK(events == std::vector<std::string>{"~detached", "~passing", "~owner", "~stubborn"});
    }
    CHECK(events.back() == "~other");
    CHECK(events.size() == 5);
    CHECK(!other.isReady());
}

TEST_CASE("liveBlocks: a destructor that gives permits to a stopped computation lets nothing run") {
    SimLoop loop;
    CountedBlock world;
    auto lock = std::make_unique<FlowLock>(1);
    auto hold = [](FlowLock* permits) -> Future<Void> {
        co_await permits->take();
        FlowLock::Releaser releaser(*permits);
        events.push_back("holds");
        co_await Future<Void>(Never());
    };
    std::vector<Future<Void>> held;
    for (int i = 0; i < 3; ++i)
        held.push_back(hold(lock.get()));
    {
        StoppedMachine stopped(world.group);
        held.clear(); // the oldest first: its permit is on its way to the next one
    }
    lock.reset();
    loop.run();
    CHECK(events == std::vector<std::string>{"holds"});
}

TEST_CASE("liveBlocks: what destructors start is destroyed as well") {
    SimLoop loop;
    CountedBlock world;
    struct Starter {
        Starter() = default;
        Starter(Starter&& other) noexcept : armed(std::exchange(other.armed, false)) {}
        ~Starter() {
            if (armed)
                (void)detached(Uncancellable(), Never(), Mark("late"));
        }
        bool armed = true;
    };
    auto actor = [](Starter) -> Future<Void> { co_await Future<Void>(Never()); };
    Future<Void> held = actor(Starter());
    world.group.destroyFrames();
    CHECK(events == std::vector<std::string>{"~late"});
}

TEST_CASE("liveBlocks: a chain of a hundred thousand") {
    SimLoop loop;
    CountedBlock world;
    Promise<int> promise;
    Future<int> last = promise.getFuture();
    for (int i = 0; i < 100000; ++i)
        last = passing(last, Mark(""));
    world.group.destroyFrames();
    CHECK(!last.isReady());
    last = Future<int>();
    CHECK(world.cells() == 1);
}

TEST_CASE("liveBlocks: state machines end where they stand") {
    using namespace live_blocks_actors;
    log_.clear();
    SimLoop simulated;
    LiveBlocks liveBlocks;
    CellGroup group;
    liveBlocks.enter(&group);
    {
        Promise<Void> promise;
        PromiseStream<int> numbers;
        Future<Void> a = handles(promise.getFuture());
        Future<Void> b = inHandler(promise.getFuture());
        Future<Void> c = chooses(promise.getFuture(), numbers.getFuture());
        (void)goesOn(promise.getFuture());
        nobodyWaits(promise.getFuture());
        log_.clear(); // what was copied on the way
        group.destroyFrames();
        CHECK(log_ == std::vector<std::string>{"alone", "kept", "only", "inner", "outer", "second", "first"});
    }
    simulated.run();
    CHECK(log_.size() == 7); // nobody ran
    liveBlocks.enter(nullptr);
    CHECK(group.isEmpty());
}

TEST_CASE("liveBlocks: groups and the liveBlocks may end in any order") {
    auto liveBlocks = std::make_unique<LiveBlocks>();
    auto group = std::make_unique<CellGroup>();
    liveBlocks->enter(group.get());
    Promise<int> one, two;
    liveBlocks->enter(nullptr);
    group.reset();
    one = Promise<int>();
    CellGroup other;
    liveBlocks->enter(&other);
    Promise<int> three;
    liveBlocks.reset();
    CHECK(other.isEmpty());
    two.send(2);
    three.send(3);
}
