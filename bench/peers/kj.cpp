// KJ, the library of promises that comes with Cap'n Proto: one loop a thread, and dropping a promise cancels it, as
// here. Its release in Debian has continuations, no coroutines. The loop is the one with I/O and timers. It has no
// priorities: NET2 runs in the order of the calls, which is less work than ours.

#include "bench/run.h"

#include <kj/async-io.h>
#include <kj/vector.h>

namespace {

using bench::Run;
using kj::Promise;

kj::Duration later(flow::DeterministicRandom& random) {
    return static_cast<std::int64_t>(bench::laterSeconds(random) * 1e9) * kj::NANOSECONDS;
}

/// The loop, among N - 1 timers if the work needs them.
class Loop {
public:
    explicit Loop(int others = 0) : io_(kj::setupAsyncIo()) {
        flow::DeterministicRandom random(7);
        for (int i = 0; i < others; ++i)
            others_.add(timer().afterDelay(later(random)));
    }

    kj::Timer& timer() { return io_.provider->getTimer(); }
    kj::WaitScope& scope() { return io_.waitScope; }

private:
    kj::AsyncIoContext io_;
    kj::Vector<Promise<void>> others_;
};

void performDelay(Run* run) {
    Loop loop(run->size() - 1);
    while (run->next())
        kj::evalLater([] {}).wait(loop.scope());
}

/// N promises of start(i), which add 1 to the sum; waits for all.
template <class Start>
void performMany(Run* run, Loop& loop, Start start) {
    while (run->next()) {
        int sum = 0;
        auto promises = kj::heapArrayBuilder<Promise<void>>(run->size());
        for (int i = 0; i < run->size(); ++i)
            promises.add(start(i, &sum));
        kj::joinPromises(promises.finish()).wait(loop.scope());
        run->expect(sum == run->size());
    }
}

void performNet2(Run* run) {
    Loop loop;
    performMany(run, loop, [](int, int* sum) { return kj::evalLater([sum] { ++*sum; }); });
}

void performTimers(Run* run) {
    Loop loop;
    performMany(run, loop, [&](int i, int* sum) {
        return loop.timer().afterDelay((i + 1) * kj::NANOSECONDS).then([sum] { ++*sum; });
    });
}

void performCallback(Run* run) {
    Loop loop;
    while (run->next()) {
        int sum = 0;
        auto signal = kj::newPromiseAndFulfiller<void>();
        auto fork = signal.promise.fork();
        auto promises = kj::heapArrayBuilder<Promise<void>>(run->size());
        for (int i = 0; i < run->size(); ++i)
            promises.add(fork.addBranch().then([&sum] { ++sum; }));
        signal.fulfiller->fulfill();
        kj::joinPromises(promises.finish()).wait(loop.scope());
        run->expect(sum == run->size());
    }
}

Promise<int> giveAtOnce(int number) {
    return number;
}

void performCreateReady(Run* run) {
    Loop loop;
    int sum = 0;
    while (run->next())
        sum += giveAtOnce(1).wait(loop.scope());
    run->expect(sum > 0);
}

void performChain(Run* run) {
    Loop loop;
    while (run->next()) {
        auto first = kj::newPromiseAndFulfiller<int>();
        Promise<int> last = kj::mv(first.promise);
        for (int i = 0; i < run->size(); ++i)
            last = last.then([](int number) { return number + 1; });
        first.fulfiller->fulfill(0);
        int number = last.wait(loop.scope());
        run->expect(number == run->size());
    }
}

void performCancel(Run* run) {
    Loop loop;
    auto never = kj::newPromiseAndFulfiller<void>();
    auto fork = never.promise.fork();
    kj::Vector<Promise<void>> waiting(run->size());
    while (run->next()) {
        int ends = 0;
        for (int i = 0; i < run->size(); ++i)
            waiting.add(fork.addBranch().then([counted = kj::defer([&ends] { ++ends; })] {}));
        waiting.clear();
        run->expect(ends == run->size());
    }
}

void performTimerCancel(Run* run) {
    Loop loop(run->size() - 1);
    flow::DeterministicRandom random(11);
    while (run->next()) {
        Promise<void> dropped = loop.timer().afterDelay(later(random)).then([] {});
        flow::Benchmark::keep(dropped);
    }
}

void performTimerRandom(Run* run) {
    Loop loop;
    kj::Vector<Promise<void>> waiting(run->size());
    kj::Duration later = 30 * kj::SECONDS;
    auto next = [&] { return loop.timer().afterDelay(later += 1 * kj::MICROSECONDS).then([] {}); };
    for (int i = 0; i < run->size(); ++i)
        waiting.add(next());
    flow::DeterministicRandom random(13);
    while (run->next())
        waiting[random.randomInt(0, run->size())] = next();
}

const bench::PeerStyle style("kj", {
                                       {"DELAY", performDelay},
                                       {"NET2", performNet2},
                                       {"callback", performCallback},
                                       {"create_ready", performCreateReady},
                                       {"chain", performChain},
                                       {"cancel", performCancel},
                                       {"timer_cancel", performTimerCancel},
                                       {"timer_random", performTimerRandom},
                                       {"timers", performTimers},
                                   });

} // namespace
