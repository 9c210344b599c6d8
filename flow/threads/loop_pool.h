#pragma once
// LoopPool: several loops, each on its own thread.
//
//     LoopPool loops({.names = "shard", .pin = true});                        // a loop for each usable processor
//     std::vector<Future<Void>> servers;
//     for (int i = 0; i < loops.size(); ++i)
//         servers.push_back(onLoop(loops[i], [] { return serve(4500); }));   // with ListenOptions::reusePort
//     loops.next().post([] { ... });                                          // another loop each time
//
// The loops run until the pool is destroyed, even without work. Loops share nothing: an object that is made on a loop
// belongs to this loop. runOnLoops() and callAll() (flow/tasks/on_loops.h) use all loops of a pool together.

#include "flow/loop/real_loop.h"

#include <atomic>
#include <memory>
#include <source_location>
#include <thread>
#include <vector>

namespace flow {

struct LoopPoolOptions {
    int loops = 0;              // 0: usableProcessors() (flow/threads/processors.h)
    char const* names = "loop"; // the threads are called loop0, loop1, ...; at most 12 bytes
    bool pin = false;           // each loop runs on its own processor of allowedProcessors()
};

class LoopPool {
public:
    /// Makes `loops` loops, at least one. Throws std::system_error if the system refuses a thread.
    explicit LoopPool(int loops, std::source_location caller = std::source_location::current());
    /// Like LoopPool(int). Throws also invalid_option_value with a sentence that names the option.
    explicit LoopPool(LoopPoolOptions options);
    LoopPool(LoopPool const&) = delete;
    LoopPool& operator=(LoopPool const&) = delete;
    /// Stops the loops, after their shielded work (flow/tasks/scope.h). When all have stopped, each loop is destroyed
    /// on its thread. The waiters of a destroyed loop wait forever. Open calls of onLoop() fail with broken_promise.
    ~LoopPool();

    int size() const { return static_cast<int>(loops_.size()); }
    Loop& operator[](int index) const { return *loops_[static_cast<std::size_t>(index)]; }
    /// Returns each loop in turn. Any thread may call next().
    Loop& next() { return *loops_[next_.fetch_add(1, std::memory_order_relaxed) % loops_.size()]; }

private:
    struct AllStopped;

    void start(int index, LoopPoolOptions const& options, std::vector<int> const& processors);
    void stop() noexcept;

    std::vector<RealLoop*> loops_;
    std::vector<std::thread> threads_; // nondeterminism: a simulated process has one loop, and no pool
    std::unique_ptr<AllStopped> stopped_;
    std::atomic<unsigned> next_{0};
};

} // namespace flow
