#include "flow/threads/loop_pool.h"

#include <future>

namespace flow {

LoopPool::LoopPool(int loops) {
    FLOW_ASSERT(loops >= 1, "a LoopPool has at least one loop");
    loops_.reserve(static_cast<std::size_t>(loops));
    threads_.reserve(static_cast<std::size_t>(loops));
    try {
        for (int i = 0; i < loops; ++i) {
            std::promise<RealLoop*> made;
            std::future<RealLoop*> loop = made.get_future();
            threads_.emplace_back([made = std::move(made)]() mutable {
                RealLoop own;
                WorkGuard guard(own);
                made.set_value(&own);
                own.run();
            });
            loops_.push_back(loop.get());
        }
    } catch (...) {
        stop();
        throw;
    }
}

LoopPool::~LoopPool() {
    stop();
}

void LoopPool::stop() noexcept {
    for (RealLoop* loop : loops_)
        loop->stop();
    for (std::thread& thread : threads_) // nondeterminism: as in the header
        thread.join();
}

} // namespace flow
