// Fork and join on two threads: trees of children that do next to nothing. Ours are parallel tasks
// (flow/parallel/parallel.h), tbb is oneTBB's task_group, asio-pool a thread_pool with a count in each node. All of a
// node's children but the last go to the pool; the node itself runs the last one.
//
// skynet: 10 children a node, N leaves, the sum of their numbers. fib: two children a node, N calls.

#include "flow/parallel/parallel.h"
#include "bench/run.h"
#include "flow/loop/real_loop.h"
#include "flow/parallel/work_pool.h"
#include "flow/tasks/context.h"
#include "flow/tasks/fork.h"
#include "flow/tasks/task.h"

#include <array>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <future>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <optional>

namespace {

using namespace flow;
using bench::Run;

constexpr int kThreads = 2;
constexpr int kFan = 10;

/// The n of the fib(n) that makes so many calls.
int indexOf(int calls) {
    int n = 0;
    for (int one = 1, two = 1; one < calls; ++n)
        two = std::exchange(one, 1 + one + two);
    return n;
}
long valueOf(int n) {
    return n < 2 ? n : valueOf(n - 1) + valueOf(n - 2);
}

// Ours.

/// A fork or a task.
template <class Handle>
Handle fib(ParallelContext, int n) {
    if (n < 2)
        co_return n;
    ParallelContext here = co_await context();
    Fork<long, WorkPool> one = fib<Fork<long, WorkPool>>(here, n - 1);
    long two = co_await fib<Task<long, WorkPool>>(here, n - 2);
    long first = co_await one;
    co_return first + two;
}
template <class Handle>
Handle skynet(ParallelContext, long first, long size) {
    if (size == 1)
        co_return first;
    ParallelContext here = co_await context();
    long part = size / kFan;
    std::array<std::optional<Fork<long, WorkPool>>, kFan - 1> forks;
    for (int i = 0; i < kFan - 1; ++i)
        forks[static_cast<std::size_t>(i)].emplace(skynet<Fork<long, WorkPool>>(here, first + i * part, part));
    long sum = co_await skynet<Task<long, WorkPool>>(here, first + (kFan - 1) * part, part);
    for (std::optional<Fork<long, WorkPool>>& fork : forks)
        sum += co_await *fork;
    co_return sum;
}

template <class Make>
Task<> allPasses(Context, Run* run, WorkPool* pool, long expected, Make make) {
    Context here = co_await context();
    while (run->next()) {
        Fork<long> fork = runOn(here, *pool, make);
        long result = co_await fork;
        run->expect(result == expected);
    }
}
template <class Make>
void performOurs(Run* run, long expected, Make make) {
    RealLoop loop;
    WorkPool pool(kThreads);
    loop.run(start(allPasses(Environment(), run, &pool, expected, make)));
}

// oneTBB.

long tbbFib(int n) {
    if (n < 2)
        return n;
    long one = 0;
    oneapi::tbb::task_group group;
    group.run([&one, n] { one = tbbFib(n - 1); });
    long two = tbbFib(n - 2);
    group.wait();
    return one + two;
}
long tbbSkynet(long first, long size) {
    if (size == 1)
        return first;
    long part = size / kFan;
    std::array<long, kFan> sums;
    oneapi::tbb::task_group group;
    for (int i = 0; i < kFan - 1; ++i)
        group.run([&sums, i, first, part] { sums[static_cast<std::size_t>(i)] = tbbSkynet(first + i * part, part); });
    sums[kFan - 1] = tbbSkynet(first + (kFan - 1) * part, part);
    group.wait();
    long sum = 0;
    for (long each : sums)
        sum += each;
    return sum;
}
template <class Call>
void performTbb(Run* run, long expected, Call call) {
    oneapi::tbb::global_control control(oneapi::tbb::global_control::max_allowed_parallelism, kThreads);
    oneapi::tbb::task_arena arena(kThreads);
    while (run->next())
        run->expect(arena.execute(call) == expected);
}

// Asio.

using Pool = boost::asio::thread_pool;

struct Join {
    Join* parent;
    std::promise<long>* result; // of the root
    std::atomic<int> pending;
    std::atomic<long> sum{0};
};
void add(Join* join, long value) {
    for (;;) {
        join->sum.fetch_add(value, std::memory_order_relaxed);
        if (join->pending.fetch_sub(1, std::memory_order_acq_rel) != 1)
            return;
        Join* parent = join->parent;
        value = join->sum.load(std::memory_order_relaxed);
        std::promise<long>* result = join->result;
        delete join;
        if (!parent)
            return result->set_value(value);
        join = parent;
    }
}
void asioFib(Pool& pool, Join* parent, int n) {
    while (n >= 2) {
        auto* join = new Join{parent, nullptr, 2};
        boost::asio::post(pool, [&pool, join, n] { asioFib(pool, join, n - 1); });
        parent = join;
        n -= 2;
    }
    add(parent, n);
}
void asioSkynet(Pool& pool, Join* parent, long first, long size) {
    while (size != 1) {
        auto* join = new Join{parent, nullptr, kFan};
        size /= kFan;
        for (int i = 0; i < kFan - 1; ++i)
            boost::asio::post(pool, [&pool, join, at = first + i * size, size] { asioSkynet(pool, join, at, size); });
        parent = join;
        first += (kFan - 1) * size;
    }
    add(parent, first);
}
template <class Call>
void performAsio(Run* run, long expected, Call call) {
    Pool pool(kThreads);
    while (run->next()) {
        std::promise<long> result;
        auto* root = new Join{nullptr, &result, 1};
        boost::asio::post(pool, [&] { call(pool, root); });
        run->expect(result.get_future().get() == expected);
    }
}

long sumOf(int leaves) {
    return long{leaves} * (leaves - 1) / 2;
}

void oursFib(Run* run) {
    int n = indexOf(run->size());
    performOurs(run, valueOf(n), [n](ParallelContext here) { return fib<Task<long, WorkPool>>(here, n); });
}
void oursSkynet(Run* run) {
    performOurs(run, sumOf(run->size()),
                [size = run->size()](ParallelContext here) { return skynet<Task<long, WorkPool>>(here, 0, size); });
}

const bench::PeerStyle ours("parallel", {{"fib", oursFib}, {"skynet", oursSkynet}});
const bench::PeerStyle tbb("tbb", {{"fib",
                                    [](Run* run) {
                                        int n = indexOf(run->size());
                                        performTbb(run, valueOf(n), [n] { return tbbFib(n); });
                                    }},
                                   {"skynet", [](Run* run) {
                                        performTbb(run, sumOf(run->size()),
                                                   [size = run->size()] { return tbbSkynet(0, size); });
                                    }}});
const bench::PeerStyle asio("asio-pool",
                            {{"fib",
                              [](Run* run) {
                                  int n = indexOf(run->size());
                                  performAsio(run, valueOf(n), [n](Pool& pool, Join* root) { asioFib(pool, root, n); });
                              }},
                             {"skynet", [](Run* run) {
                                  performAsio(run, sumOf(run->size()), [size = run->size()](Pool& pool, Join* root) {
                                      asioSkynet(pool, root, 0, size);
                                  });
                              }}});

} // namespace
