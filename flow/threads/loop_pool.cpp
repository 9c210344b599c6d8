#include "flow/threads/loop_pool.h"

#include "flow/threads/processors.h"

#include <future>
#include <latch>
#include <sched.h>
#include <string>
#include <system_error>

namespace flow {
namespace {

constexpr std::size_t kLongestName = 12;
constexpr std::size_t kLongestOfSystem = 15; // with the index

int checked(int loops, std::source_location caller) {
    FLOW_ASSERT_AT(caller, loops >= 1, "a LoopPool has at least one loop");
    return loops;
}

void throwIfFailed(int failure, char const* what) {
    if (failure != 0)
        throw std::system_error(failure, std::generic_category(), what);
}

} // namespace

/// Keeps each loop until all have stopped, because a step of one loop may post to another.
struct LoopPool::AllStopped : std::latch {
    using latch::latch;
};

LoopPool::LoopPool(int loops, std::source_location caller)
    : LoopPool(LoopPoolOptions{.loops = checked(loops, caller)}) {}

LoopPool::LoopPool(LoopPoolOptions options) {
    std::string_view names = options.names ? options.names : "";
    if (options.loops < 0)
        throw wrongOption("LoopPoolOptions", "loops", std::to_string(options.loops), "it must not be negative");
    if (names.empty() || names.size() > kLongestName)
        throw wrongOption("LoopPoolOptions", "names", names, "it must have 1 to 12 bytes");
    int loops = options.loops != 0 ? options.loops : usableProcessors();
    std::vector<int> processors;
    if (options.pin && (processors = allowedProcessors()).size() < static_cast<std::size_t>(loops))
        throw wrongOption("LoopPoolOptions", "pin", "true",
                          std::to_string(loops) + " loops need as many processors; the process may use " +
                              std::to_string(processors.size()));
    stopped_ = std::make_unique<AllStopped>(loops);
    loops_.reserve(static_cast<std::size_t>(loops));
    threads_.reserve(static_cast<std::size_t>(loops));
    try {
        for (int i = 0; i < loops; ++i)
            start(i, options, processors);
    } catch (...) {
        stopped_->count_down(loops - size());
        stop();
        throw;
    }
}

LoopPool::~LoopPool() {
    stop();
}

void LoopPool::start(int index, LoopPoolOptions const& options, std::vector<int> const& processors) {
    std::promise<RealLoop*> made;
    std::future<RealLoop*> loop = made.get_future();
    std::string name = (options.names + std::to_string(index)).substr(0, kLongestOfSystem);
    threads_.emplace_back([this, name, made = std::move(made)]() mutable {
        (void)::pthread_setname_np(::pthread_self(), name.c_str()); // nondeterminism: for debuggers
        RealLoop own;
        WorkGuard guard(own);
        made.set_value(&own);
        own.run();
        own.runLastWork();
        stopped_->arrive_and_wait();
    });
    loops_.push_back(loop.get());
    auto thread = threads_.back().native_handle();
    if (!options.pin)
        return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processors[static_cast<std::size_t>(index)], &one);
    throwIfFailed(::pthread_setaffinity_np(thread, sizeof one, &one), "pthread_setaffinity_np");
}

void LoopPool::stop() noexcept {
    for (RealLoop* loop : loops_)
        loop->stop();
    for (std::thread& thread : threads_) // nondeterminism: as in the header
        thread.join();
}

} // namespace flow
