// The works of bench/actors/ on fibers, and what a switch between stacks takes without fibers.

#include "flow/fiber/fiber.h"

#include "bench/run.h"
#include "flow/combine/race.h"
#include "flow/compat/wait_for_all.h"
#include "flow/core/future.h"
#include "flow/core/stream.h"
#include "flow/fiber/detail/stack_pool.h"
#include "flow/wait/delay.h"
#include "flow/wait/source.h"

#include <boost/context/fiber.hpp>

#include <vector>

namespace {

using namespace flow;
using bench::Counted;
using bench::Priorities;
using bench::Run;

/// Two mappings a stack; Linux gives a process 65,530 by default.
constexpr int kMostFibers = 30'000;

/// What one takes that waits: its block, and of its stack the pages that it has used.
std::size_t bytesOfParked() {
    std::size_t used = 0;
    fiber::setPooledStacks(0); // a fresh stack shall be measured
    Promise<Void> signal;
    Future<Void> parked = fiber::spawn([&] {
        fiber::wait(signal.getFuture());
        used = fiber::stackBytesUsed();
    });
    std::size_t block = bench::bytes(parked);
    signal.send(Void());
    fiber::setPooledStacks(64);
    return block + used;
}

Future<Void> driveDelay(Run* run) {
    return fiber::spawn([run] {
        while (run->next())
            fiber::wait(delay(0));
    });
}

Future<Void> driveYield(Run* run) {
    return fiber::spawn([run] {
        while (run->next())
            fiber::yield();
    });
}

/// A driver with a pool in which the stacks of all fibers of a pass keep their memory.
template <class Pass>
Future<Void> drivePasses(Run* run, Pass pass) {
    return fiber::spawn([run, pass] {
        fiber::setPooledStacks(4 * (static_cast<std::size_t>(run->size()) + 1));
        fiber::wait(delay(0));
        while (run->next())
            pass(run);
        fiber::setPooledStacks(64);
    });
}

Future<Void> driveNet2(Run* run) {
    return drivePasses(run, [](Run* run) {
        std::uint32_t sum = 0;
        std::vector<Future<Void>> futures;
        futures.reserve(run->size());
        Priorities priorities;
        for (int i = 0; i < run->size(); ++i)
            futures.push_back(fiber::spawn([priority = priorities.next(), &sum] {
                fiber::wait(delay(0, priority));
                ++sum;
            }));
        fiber::wait(waitForAll(futures));
        run->expect(sum == static_cast<std::uint32_t>(run->size()));
    });
}

Future<Void> driveCallback(Run* run) {
    return drivePasses(run, [](Run* run) {
        std::uint32_t sum = 0;
        std::vector<Future<Void>> futures;
        futures.reserve(run->size());
        Promise<Void> signal;
        for (int i = 0; i < run->size(); ++i)
            futures.push_back(fiber::spawn([&, future = signal.getFuture()] {
                fiber::wait(future);
                ++sum;
            }));
        signal.send(Void());
        fiber::wait(waitForAll(futures));
        run->expect(sum == static_cast<std::uint32_t>(run->size()));
    });
}

Future<Void> driveSpawn(Run* run) {
    return drivePasses(run, [](Run* run) { run->expect(fiber::spawn([] {}).isReady()); });
}

Future<Void> driveAwaitReady(Run* run) {
    return fiber::spawn([run] {
        Future<int> number = 1;
        int sum = 0;
        while (run->next())
            sum += fiber::wait(number);
        run->expect(sum > 0);
    });
}

Future<Void> driveChain(Run* run) {
    return drivePasses(run, [](Run* run) {
        Promise<int> first;
        Future<int> last = first.getFuture();
        for (int i = 0; i < run->size(); ++i)
            last = fiber::spawn([from = std::move(last)] { return fiber::wait(from) + 1; });
        first.send(0);
        run->expect(last.get() == run->size());
    });
}

Future<Void> driveCancel(Run* run) {
    return drivePasses(run, [](Run* run) {
        std::uint32_t ends = 0;
        std::vector<Future<Void>> waiting;
        waiting.reserve(run->size());
        for (int i = 0; i < run->size(); ++i)
            waiting.push_back(fiber::spawn([&ends] {
                Counted counted(&ends);
                fiber::wait(Future<Void>(Never()));
            }));
        waiting.clear();
        run->expect(ends == static_cast<std::uint32_t>(run->size()));
    });
}

Future<Void> driveRace(Run* run, std::size_t sentOne) {
    return drivePasses(run, [sentOne](Run* run) {
        Promise<Void> promises[3];
        Future<Void> futures[3];
        for (std::size_t i = 0; i < 3; ++i)
            futures[i] = promises[i].getFuture();
        Future<std::size_t> winner =
            fiber::spawn([&] { return fiber::wait(race(futures[0], futures[1], futures[2])).index(); });
        promises[sentOne].send(Void());
        run->expect(winner.get() == sentOne);
    });
}

Future<Void> driveStreamWaiting(Run* run) {
    return drivePasses(run, [](Run* run) {
        PromiseStream<int> numbers;
        Future<int> sum = fiber::spawn([&] {
            FutureStream<int> received = numbers.getFuture();
            int found = 0;
            for (int i = 0; i < run->size(); ++i)
                found += fiber::wait(received);
            return found;
        });
        for (int i = 0; i < run->size(); ++i)
            numbers.send(1);
        run->expect(sum.get() == run->size());
    });
}

/// Resumes the parked waiter, at once.
class Baton {
public:
    struct Pass {
        using Result = Void;
        Baton* baton;
        bool isReady() const { return false; }
        void park(WaiterNode& waiter) { baton->waiter_.park(waiter, *this); }
        Void take() const { return Void(); }
    };
    Pass pass() { return {this}; }
    void resume() { waiter_.wakeFirst(); }

private:
    Source<Pass> waiter_;
};

/// To a fiber that waits, and back.
Future<Void> driveSwitch(Run* run) {
    Baton baton;
    bool goesOn = true;
    int passes = 0;
    Future<Void> other = fiber::spawn([&] {
        while (goesOn) {
            ++passes;
            fiber::wait(baton.pass());
        }
    });
    while (run->next())
        baton.resume();
    run->expect(passes > 1);
    goesOn = false;
    baton.resume();
    run->expect(other.isReady());
    return Void();
}

/// The same between two stacks of Boost.Context, without anything to wait for.
void performSwitch(Run* run) {
    bool goesOn = true;
    int passes = 0;
    boost::context::fiber other([&](boost::context::fiber&& from) {
        while (goesOn) {
            ++passes;
            from = std::move(from).resume();
        }
        return std::move(from);
    });
    while (run->next())
        other = std::move(other).resume();
    run->expect(passes > 1);
    goesOn = false;
    std::move(other).resume();
}

const bench::Style style("fiber", {
                                      {"DELAY", driveDelay, bytesOfParked},
                                      {"YIELD", driveYield, bytesOfParked},
                                      {"NET2", driveNet2, bytesOfParked, kMostFibers},
                                      {"callback", driveCallback, bytesOfParked, kMostFibers},
                                      {"await_ready", driveAwaitReady, bytesOfParked},
                                      {"chain", driveChain, bytesOfParked},
                                      {"cancel", driveCancel, bytesOfParked},
                                      {"race_first", [](Run* run) { return driveRace(run, 0); }, bytesOfParked},
                                      {"race_last", [](Run* run) { return driveRace(run, 2); }, bytesOfParked},
                                      {"stream_waiting", driveStreamWaiting, bytesOfParked},
                                      {"spawn", driveSpawn, bytesOfParked},
                                      {"switch", driveSwitch, bytesOfParked},
                                  });
const bench::PeerStyle floorStyle("floor-context", {{"switch", performSwitch}});

} // namespace
