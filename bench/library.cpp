// The pieces of flow/lib, each used once in a pass: made, brought to its end, and dropped.

#include "bench/run.h"

namespace {

using namespace flow;
using bench::Run;

constexpr double kLong = 1e6; // seconds that no benchmark sees the end of
constexpr int kSeveral = 8;

/// The driver that calls `use` in each pass; it must say that the work was done.
template <class Use>
Future<Void> repeat(Run* run, Use use) {
    co_await delay(0);
    while (run->next())
        run->expect(use());
}

template <class Use>
bench::Driver piece(std::string_view work, Use use, std::function<std::size_t()> itemBytes = [] { return 0; }) {
    return {work, [use](Run* run) { return repeat(run, use); }, std::move(itemBytes)};
}

/// A piece that is given a future, which is sent then.
template <class Make>
bench::Driver answering(std::string_view work, Make make) {
    auto use = [make] {
        Promise<int> promise;
        auto made = make(promise.getFuture());
        promise.send(1);
        return made.isReady();
    };
    return piece(work, use, [make] { return bench::bytes(make(Promise<int>().getFuture())); });
}

/// A piece that is given several futures, which are sent then.
template <class Make>
bench::Driver gathering(std::string_view work, Make make) {
    auto use = [make] {
        Promise<int> promises[kSeveral];
        std::vector<Future<int>> futures;
        futures.reserve(kSeveral);
        for (Promise<int>& promise : promises)
            futures.push_back(promise.getFuture());
        auto made = make(std::move(futures));
        for (Promise<int>& promise : promises)
            promise.send(1);
        return made.isReady();
    };
    return piece(work, use, [make] { return bench::bytes(make(std::vector<Future<int>>(kSeveral, Never()))); });
}

bool awaitChange(AsyncVar<int>& variable) {
    Future<Void> changed = variable.onChange();
    variable.set(variable.get() + 1);
    return changed.isReady();
}

bool awaitTrigger(AsyncTrigger& trigger) {
    Future<Void> triggered = trigger.onTrigger();
    trigger.trigger();
    return triggered.isReady();
}

bool awaitKey(AsyncMap<int, int>& map) {
    Future<Void> changed = map.onChange(7);
    map.set(7, map.get(7) + 1);
    return changed.isReady();
}

bool takeFree(FlowLock& lock) {
    Future<Void> taken = lock.take();
    bool done = taken.isReady();
    lock.release();
    return done;
}

Future<Void> driveTakeTaken(Run* run) {
    FlowLock lock;
    while (run->next()) {
        Future<Void> first = lock.take();
        Future<Void> second = lock.take();
        lock.release();
        co_await second;
        lock.release();
    }
}

const bench::Style
    style("library", {
                         piece("AsyncVar", [v = std::make_shared<AsyncVar<int>>(0)] { return awaitChange(*v); }),
                         piece("AsyncTrigger", [t = std::make_shared<AsyncTrigger>()] { return awaitTrigger(*t); }),
                         piece("AsyncMap", [m = std::make_shared<AsyncMap<int, int>>()] { return awaitKey(*m); }),
                         piece("FlowLock", [l = std::make_shared<FlowLock>()] { return takeFree(*l); }),
                         {"FlowLock_wait", driveTakeTaken},
                         piece("FlowMutex", [m = std::make_shared<FlowMutex>()] { return m->take().isReady(); }),

                         answering("success", [](Future<int> f) { return success(f); }),
                         answering("and", [](Future<int> f) { return f && f; }),
                         answering("or", [](Future<int> f) { return f || Future<int>(Never()); }),
                         answering("errorOr", [](Future<int> f) { return errorOr(f); }),
                         answering("waitOrError", [](Future<int> f) { return waitOrError(f, Never()); }),
                         answering("brokenPromiseToNever", [](Future<int> f) { return brokenPromiseToNever(f); }),
                         answering("timeout", [](Future<int> f) { return timeout(f, kLong); }),
                         answering("timeoutError", [](Future<int> f) { return timeoutError(f, kLong); }),
                         answering("holdWhile", [](Future<int> f) { return holdWhile(1, f); }),
                         answering("map", [](Future<int> f) { return map(f, [](int x) { return x + 1; }); }),
                         answering("store", [out = std::make_shared<int>()](Future<int> f) { return store(*out, f); }),
                         answering("uncancellable", [](Future<int> f) { return uncancellable(f); }),
                         answering("forwardPromise",
                                   [](Future<int> f) {
                                       Promise<int> to;
                                       forwardPromise(to, f);
                                       return to.getFuture();
                                   }),

                         gathering("waitForAll", [](std::vector<Future<int>> f) { return waitForAll(f); }),
                         gathering("waitForAny", [](std::vector<Future<int>> f) { return waitForAny(f); }),
                         gathering("waitForAllReady", [](std::vector<Future<int>> f) { return waitForAllReady(f); }),
                         gathering("getAll", [](std::vector<Future<int>> f) { return getAll(std::move(f)); }),
                     });

} // namespace
