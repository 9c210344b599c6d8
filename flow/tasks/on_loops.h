#pragma once
// runOnLoops(): a service with an instance on each of several loops. callAll(): a call on each loop of a pool.
//
//     int main() {
//         runOnLoops({.names = "shard"}, [](LoopPool& loops, int index) -> Future<Void> {    // once on each loop
//             Shard shard(index);
//             co_await race(shard.serve(4500), signals({SIGTERM, SIGINT}));      // with ListenOptions::reusePort
//         });
//     }
//     std::vector<int> sizes = co_await callAll(loops, [](int index) { return shards[index]->size(); });
//
// runOnLoops() makes a LoopPool, starts the service on each of its loops, and returns when all instances have ended.
// The first error (except actor_cancelled) cancels the other instances, each on its own loop. When all have ended,
// runOnLoops() throws this error. All loops run until then, so an instance may call any of them. The caller waits.
//
// Each loop gets a copy of the service, which lives until its instance has ended. Objects that the copies refer to are
// used by several threads. A simulation has no runOnLoops(), because a LoopPool has real threads.

#include "flow/combine/all.h"
#include "flow/tasks/executor.h"
#include "flow/tasks/scope.h"
#include "flow/threads/loop_pool.h"

#include <utility>
#include <vector>

namespace flow {

/// Calls f(index) on each loop of the pool with onLoop(). Returns the results, sorted by index; void becomes Void.
/// Fails with the first error. A cancel drops only the answers.
template <class F>
auto callAll(LoopPool& loops, F f) {
    std::vector<Future<typename CallResult<std::invoke_result_t<F&, int>>::Value>> calls;
    for (int i = 0; i < loops.size(); ++i)
        calls.push_back(onLoop(loops[i], [f, i]() mutable { return f(i); }));
    return all(std::move(calls));
}

namespace tasks {

template <class F>
Task<> instance(Context, LoopPool* loops, F service, int index) {
    Future<Void> running = service(*loops, index);
    co_await running;
}
template <class F>
Task<> instanceOn(Context, LoopPool* loops, F service, int index) {
    Context here = co_await context();
    auto make = [=](Context there) mutable { return instance<F>(there, loops, std::move(service), index); };
    Fork<> running = runOn(here, (*loops)[index], std::move(make));
    co_await running;
}
template <class F>
Task<> instances(Context, LoopPool* loops, F service) {
    Context here = co_await context();
    Scope scope(here);
    for (int i = 0; i < loops->size(); ++i)
        scope.spawn(instanceOn<F>(scope.context(), loops, service, i));
    co_await scope.join();
}

} // namespace tasks

/// Calls service(loops, index), which returns a Future<Void>, on each loop of a new pool. Returns when all have ended.
template <class F>
void runOnLoops(LoopPoolOptions options, F service) {
    RealLoop here;
    LoopPool loops(options);
    here.run(start(tasks::instances<F>(Environment(), &loops, std::move(service))));
}

} // namespace flow
