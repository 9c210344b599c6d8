#include "flow/sync/shared_mutex.h"

#include "flow/base/random.h"
#include "flow/combine/race.h"
#include "flow/coro/coroutine.h"
#include "flow/sim/sim_loop.h"
#include "flow/wait/delay.h"
#include "tests/flow/support/balance.h"
#include "tests/flow/support/cancel_everywhere.h"
#include "tests/flow/support/death.h"
#include "tests/flow/support/pending_text.h"
#include "tests/flow/support/trace_log.h"

#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {
using namespace flow;

Future<Void> readShared(SharedMutex* mutex, test::TraceLog* log, std::string name, double seconds) {
    SharedMutex::SharedLock lock = co_await mutex->lockShared();
    log->say(name);
    co_await delay(seconds);
    log->say("~" + name);
}

Future<Void> writeAlone(SharedMutex* mutex, test::TraceLog* log, std::string name, double seconds) {
    SharedMutex::Lock lock = co_await mutex->lock();
    log->say(name);
    CHECK(mutex->isLocked());
    co_await delay(seconds);
    log->say("~" + name);
}

TEST_CASE("shared mutex: readers together, a writer alone, and those that wait in their order") {
    test::Balance balance;
    SimLoop loop;
    test::TraceLog log;
    SharedMutex mutex;
    {
        Future<Void> a = readShared(&mutex, &log, "a", 1), b = readShared(&mutex, &log, "b", 2);
        CHECK(log.take() == "a b");
        CHECK(!mutex.isLocked());
        Future<Void> w = writeAlone(&mutex, &log, "w", 1);
        Future<Void> c = readShared(&mutex, &log, "c", 1), d = readShared(&mutex, &log, "d", 1);
        Future<Void> v = writeAlone(&mutex, &log, "v", 1);
        CHECK(log.take() == ""); // the writer waits, and new readers wait behind it
        loop.run();
        CHECK(log.take() == "~a ~b w ~w c d ~c ~d v ~v");
        CHECK(loop.now() == 5);
        CHECK(!mutex.isLocked());
    }
}

TEST_CASE("shared mutex: a writer that leaves lets the readers behind it go on") {
    SimLoop loop;
    test::TraceLog log;
    SharedMutex mutex;
    Future<Void> a = readShared(&mutex, &log, "a", 9);
    auto lose = [](SharedMutex* m) -> Future<Void> {
        auto first = co_await race(m->lock(), delay(1));
        CHECK(first.index() == 1);
    };
    Future<Void> writing = lose(&mutex);
    Future<Void> cancelled = writeAlone(&mutex, &log, "w", 9);
    Future<Void> b = readShared(&mutex, &log, "b", 1);
    CHECK(log.take() == "a");
    cancelled = Void();
    loop.run(writing);
    loop.run(delay(0.5));
    CHECK(log.take() == "b");
    a = Void();
    loop.run(b);
    loop.run(writeAlone(&mutex, &log, "w", 1));
}

TEST_CASE("shared mutex: a lock is given back early, by a cancel, and by a race with a dropped result") {
    SimLoop loop;
    SharedMutex mutex;
    auto useOnce = [](SharedMutex* m) -> Future<Void> {
        SharedMutex::Lock lock = co_await m->lock();
        lock.unlock();
        SharedMutex::SharedLock shared = co_await m->lockShared();
        shared.unlock();
        auto first = co_await race(m->lock(), delay(1));
        CHECK(first.index() == 0);
    };
    loop.run(useOnce(&mutex));
    test::TraceLog log;
    Future<Void> writing = writeAlone(&mutex, &log, "w", 9), reading = readShared(&mutex, &log, "r", 1);
    writing = Void();
    loop.run(reading);
    CHECK(log.take() == "w r ~r");
    CHECK(!mutex.isLocked());
}

TEST_CASE("shared mutex: its end fails those that wait; one that is held must not end") {
    SimLoop loop;
    auto mutex = std::make_unique<SharedMutex>();
    SharedMutex::Lock held = loop.run(keep(mutex->lock()));
    Future<SharedMutex::SharedLock> reader = keep(mutex->lockShared());
    std::string report = test::pendingText();
    CHECK(test::has(report, "a SharedMutex, as a reader"));
    held.unlock();
    Future<SharedMutex::Lock> writer = keep(mutex->lock());
    mutex.reset();
    CHECK(reader.getError() == broken_promise());
    CHECK(writer.getError() == broken_promise());
    if (FLOW_CHECKED)
        CHECK_DIES(
            {
                std::optional<SharedMutex> other(std::in_place);
                SharedMutex::SharedLock reading = loop.run(keep(other->lockShared()));
                other.reset();
            },
            "is destroyed while a Permit or Lock of it is held");
}

struct SharedLoad {
    int readers = 0, writers = 0, done = 0;
};

Future<Void> useShared(SharedMutex* mutex, SharedLoad* load, bool writes, double patience, double seconds) {
    if (writes) {
        auto first = co_await race(mutex->lock(), delay(patience));
        if (first.index() == 1)
            co_return;
        CHECK(load->readers + load->writers++ == 0);
        co_await delay(seconds);
        --load->writers;
    } else {
        auto first = co_await race(mutex->lockShared(), delay(patience));
        if (first.index() == 1)
            co_return;
        CHECK(load->writers == 0);
        ++load->readers;
        co_await delay(seconds);
        --load->readers;
    }
    ++load->done;
}

TEST_CASE("shared mutex: random readers and writers, some of them impatient: none waits in vain") {
    test::Balance balance;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        SimLoop loop;
        DeterministicRandom random(seed);
        SharedMutex mutex;
        SharedLoad load;
        std::vector<Future<Void>> users;
        int patient = 0;
        for (int i = 0; i < 100; ++i) {
            bool isPatient = random.randomInt(0, 3) != 0;
            patient += isPatient;
            users.push_back(
                useShared(&mutex, &load, random.randomInt(0, 4) == 0, isPatient ? 1e9 : 0.7, random.randomInt(0, 3)));
            if (random.randomInt(0, 3) == 0)
                loop.run(delay(random.randomInt(0, 2)));
        }
        for (Future<Void>& user : users)
            loop.run(user);
        CHECK(load.readers + load.writers == 0);
        CHECK(load.done >= patient);
        CHECK(keep(mutex.lock()).isReady());
    }
}

Future<int> holdShared(SharedMutex* mutex, Future<int> until) {
    SharedMutex::SharedLock lock = co_await mutex->lockShared();
    int number = co_await until;
    co_return number;
}

Future<int> readWhileWriting(SharedMutex* mutex, Future<int> a, Future<int> b, test::Sentinel) {
    Future<int> one = holdShared(mutex, a), two = holdShared(mutex, b);
    SharedMutex::Lock lock = co_await mutex->lock();
    Future<int> three = holdShared(mutex, a);
    lock.unlock();
    int number = co_await three;
    co_return number;
}

TEST_CASE("shared mutex: it can be cancelled at each step") {
    auto make = [](test::Inputs& in) {
        SharedMutex& mutex = in.keep<SharedMutex>();
        in.afterwards([&mutex] { return keep(mutex.lock()).isReady(); });
        return readWhileWriting(&mutex, in.number(0), in.number(1), in.sentinel());
    };
    test::cancelEverywhere("shared mutex", make, {.hasHandlers = true});
}

} // namespace
