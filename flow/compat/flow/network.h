#pragma once
// The network under the old header name: g_network, through which old programs reach the loop, and the functions that
// go through it.
//
//     g_network = newNet2(TLSConfig());      // a real loop for this thread; not needed where there is one already
//     Future<Void> main = stopAfter(serve());
//     g_network->run();
//
// g_network stands for the current loop of the thread. A test can put a network of its own in its place:
//
//     struct Mock final : INetwork { bool check_yield(TaskPriority) override { ... } ... };
//     g_network = &mock;  ...  g_network = nullptr;      // nullptr, or what it was before: the loop again
//
// delay(), yield(), check_yield(), now() and yieldedFuture() then ask the test's. Functions that it does not override
// do what the loop does. delay() and yield() return futures, as old programs expect; flow::delay() and flow::yield(),
// awaited in place, allocate nothing.

#include "../../flow.h"
#include "Platform.h"
#include "TLSConfig.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

using flow::TaskPriority;

/// What programs ask of a network; a base class for tests. Each function does what the current loop does.
class INetwork {
public:
    typedef void* flowGlobalType;

    INetwork() = default;
    INetwork(INetwork const&) = delete;
    INetwork& operator=(INetwork const&) = delete;
    virtual ~INetwork() = default;

    virtual double now() const { return flow::now(); }
    virtual double timer() { return ::timer(); }
    virtual double timer_monotonic() { return ::timer_monotonic(); }
    virtual flow::Future<flow::Void> delay(double seconds, TaskPriority priority) {
        return flow::delay(seconds, priority);
    }
    virtual flow::Future<flow::Void> orderedDelay(double seconds, TaskPriority priority) {
        return flow::orderedDelay(seconds, priority);
    }
    virtual flow::Future<flow::Void> yield(TaskPriority priority) { return flow::yield(priority); }
    virtual bool check_yield(TaskPriority) { return flow::check_yield(); }
    virtual TaskPriority getCurrentTask() const { return flow::loop().currentPriority(); }
    virtual bool isSimulated() const { return flow::hasLoop() && flow::loop().isSimulated(); }
    virtual bool isOnMainThread() const { return flow::hasLoop(); }
    /// Runs the loop until stop(), or until nothing is left to do.
    virtual void run() { flow::loop().run(); }
    virtual void stop() { flow::loop().stop(); }
    /// Sends on this thread's loop, which the caller is on, at the priority.
    virtual void onMainThread(flow::Promise<flow::Void>&& signal, TaskPriority priority) {
        flow::forwardPromise(flow::Promise<flow::Void>(std::move(signal)),
                             flow::Future<flow::Void>(flow::delay(0, priority)));
    }
    /// Pointers that programs keep by number; null until set.
    virtual flowGlobalType global(int id) const {
        auto index = static_cast<std::size_t>(id);
        return index < globals_.size() ? globals_[index] : nullptr;
    }
    virtual void setGlobal(std::size_t id, flowGlobalType value) {
        if (id >= globals_.size())
            globals_.resize(id + 1);
        globals_[id] = value;
    }

private:
    std::vector<flowGlobalType> globals_;
};

namespace flow::compat {

/// The network that is the thread's loop.
inline INetwork& loopNetwork() {
    static thread_local INetwork network;
    return network;
}

/// The variable g_network: the thread's loop, until something else is assigned.
class NetworkPointer {
public:
    NetworkPointer& operator=(INetwork* network);
    operator INetwork*() const { return get(); }
    INetwork* operator->() const { return get(); }
    INetwork& operator*() const { return *get(); }
    /// Whether a test's network stands in for the loop.
    bool isReplaced() const { return replacement_ != nullptr; }

private:
    INetwork* get() const { return replacement_ ? replacement_ : &loopNetwork(); }

    INetwork* replacement_ = nullptr;
};

} // namespace flow::compat

inline constinit thread_local flow::compat::NetworkPointer g_network;

namespace flow::compat {

/// What yieldedFuture() asks while a test's network stands in.
inline constexpr flow::YieldRules kNetworkRules{
    [] { return g_network->check_yield(TaskPriority::DefaultYield); },
    [] { return g_network->delay(0, TaskPriority::DefaultYield); },
};

inline NetworkPointer& NetworkPointer::operator=(INetwork* network) {
    replacement_ = network == &loopNetwork() ? nullptr : network;
    flow::yieldRules = replacement_ ? &kNetworkRules : nullptr;
    return *this;
}

// Objects with a call operator, not functions: a TaskPriority among the arguments would bring in those of flow as well.

struct DelayFunction {
    Future<Void> operator()(double seconds, TaskPriority priority = TaskPriority::DefaultDelay) const {
        return g_network->delay(seconds, priority);
    }
};
struct OrderedDelayFunction {
    Future<Void> operator()(double seconds, TaskPriority priority = TaskPriority::DefaultDelay) const {
        return g_network->orderedDelay(seconds, priority);
    }
};
struct DelayUntilFunction {
    Future<Void> operator()(double time, TaskPriority priority = TaskPriority::DefaultDelay) const {
        return g_network->delay(time - g_network->now(), priority);
    }
};
struct DelayJitteredFunction {
    Future<Void> operator()(double seconds, TaskPriority priority = TaskPriority::DefaultDelay) const {
        return g_network->delay(jittered(seconds), priority);
    }
};
struct YieldFunction {
    Future<Void> operator()(TaskPriority priority = TaskPriority::DefaultYield) const {
        return g_network->yield(priority);
    }
};
struct CheckYieldFunction {
    bool operator()(TaskPriority priority = TaskPriority::DefaultYield) const {
        return g_network->check_yield(priority);
    }
};

} // namespace flow::compat

inline constexpr flow::compat::DelayFunction delay;
inline constexpr flow::compat::OrderedDelayFunction orderedDelay;
inline constexpr flow::compat::DelayUntilFunction delayUntil;
inline constexpr flow::compat::DelayJitteredFunction delayJittered;
inline constexpr flow::compat::YieldFunction yield;
inline constexpr flow::compat::CheckYieldFunction check_yield;

inline double now() {
    return g_network->now();
}

/// A real loop for this thread, which lives as long as the thread.
inline INetwork* newNet2(TLSConfig const&, bool = false, bool = false) {
    static thread_local std::unique_ptr<flow::RealLoop> loop;
    loop = std::make_unique<flow::RealLoop>();
    return &flow::compat::loopNetwork();
}
