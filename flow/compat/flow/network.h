#pragma once
// The network under the old header name: g_network, which stands for the loop in old programs, and its functions.
//
//     g_network = newNet2(TLSConfig());      // a real loop for this thread; not needed if it has one
//     Future<Void> main = stopAfter(serve());
//     g_network->run();                      // until stop()
//
// On the loop of newNet2(), run() waits for calls of other threads when nothing else is left to do. Before it waits for
// the first time, it reports on standard error what is pending. On a loop that the program has made itself, run()
// returns then. Once run() has returned, nothing runs calls of other threads: onMainThread() ends the program, until
// the next run().
//
// g_network stands for the current loop of the thread. A test can replace it by its own network:
//
//     struct Mock final : INetwork { bool check_yield(TaskPriority) override { ... } ... };
//     g_network = &mock;  ...  g_network = nullptr;      // nullptr, or the pointer before: the loop again
//
// delay(), yield(), check_yield(), now() and yieldedFuture() then call the test's network. Functions that it does not
// override do what the loop does.
//
// delay() returns a small value, and no Future: waiting for it costs no more than waiting for flow::delay(). It
// converts to a Future<Void>. Where a template deduces T of a Future<T>, the conversion must be written out:
// `mine(Future<Void>(delay(1)))`, except for functions of flow/genericactors.actor.h.

#include "../../base/inline.h"
#include "../../flow.h"
#include "../../inspect/pending_report.h"
#include "Platform.h"
#include "TLSConfig.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

using flow::TaskPriority;

struct NetworkAddress;

namespace flow::compat {

/// Returns true for an address of this machine. flow/NetworkAddress.h sets it; every file with addresses includes that.
inline bool (*isLocalAddress)(::NetworkAddress const&) = nullptr;

/// The loop on which onMainThread() runs calls: the loop of newNet2(), or of the last run() until it has returned.
inline std::atomic<Loop*> mainLoop = nullptr;
inline std::atomic<bool> mainLoopHasEnded = false;
inline constinit thread_local Loop* loopOfNewNet2 = nullptr;

/// Returns the main loop; within a test of the runner, the loop of the test.
inline Loop& theMainLoop() {
    if (hasLoop() && Loop::current().isSimulated())
        return Loop::current();
    if (Loop* test = loopOfTest) {
        FLOW_ASSERT(!test->isSimulated(), "onMainThread(): a simulated test has no other threads: run it with --real");
        return *test;
    }
    if (Loop* main = mainLoop)
        return *main;
    FLOW_ASSERT(!mainLoopHasEnded, "onMainThread(): g_network->run() has returned, so nothing would run the call");
    return Loop::current();
}

/// Runs this thread's loop as the main loop. Runs the loop of newNet2() until stop(), even without work.
inline void runMainLoop() {
    Loop* mine = &Loop::current();
    mainLoop = mine;
    mainLoopHasEnded = false;
    if (!mine->run() && mine == loopOfNewNet2) {
        std::string pending;
        dumpPending(pending);
        std::fprintf(
            stderr,
            "flow: g_network->run(): nothing is left to do, and nothing has called g_network->stop(): waits for "
            "calls of other threads\n%s",
            pending.c_str());
        WorkGuard guard(*mine);
        mine->run();
    }
    mainLoopHasEnded = true;
    mainLoop.compare_exchange_strong(mine, nullptr);
}

/// The argument of newNet2().
inline TLSConfig const*& tlsConfig() {
    static TLSConfig const none;
    static thread_local TLSConfig const* config = &none;
    return config;
}

} // namespace flow::compat

/// The network for programs, and a base class for tests. Each function does what the current loop does.
class INetwork {
public:
    typedef void* flowGlobalType;
    enum ETLSInitState { NONE, CONFIG, CONNECT, LISTEN };
    /// Numbers for global(); a program may use others from enCustom on. Only enFileSystem has an effect.
    enum enumGlobal {
        enFailureMonitor,
        enFlowTransport,
        enTDMetrics,
        enNetworkConnections,
        enNetworkAddressFunc,
        enFileSystem,
        enCustom = 100,
    };

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
    /// Returns the priority of the running task, or the one set by setCurrentTask().
    virtual TaskPriority getCurrentTask() const {
        flow::Loop& current = flow::Loop::current();
        return taskOfPriority_ == current.stepsRun() + 1 ? priority_ : current.currentPriority();
    }
    /// Changes the result of getCurrentTask() for the rest of the running task, but not the order of the loop.
    virtual void setCurrentTask(TaskPriority priority) {
        priority_ = priority;
        taskOfPriority_ = flow::Loop::current().stepsRun() + 1;
    }
    virtual bool isSimulated() const { return flow::hasLoop() && flow::Loop::current().isSimulated(); }
    virtual bool isOnMainThread() const { return flow::hasLoop(); }
    /// Runs the loop until stop(). A loop that the program has made itself also ends when no work is left.
    virtual void run() {
        flow::compat::runMainLoop();
        for (auto& callback : std::exchange(stopCallbacks_, {}))
            callback();
    }
    virtual void stop() { flow::Loop::current().stop(); }
    /// Adds a function that is called once, when run() has ended.
    virtual void addStopCallback(std::function<void()> callback) { stopCallbacks_.push_back(std::move(callback)); }
    /// Returns true only at the first call: that caller may call run().
    virtual bool checkRunnable() { return !std::exchange(askedToRun_, true); }
    virtual THREAD_HANDLE startThread(THREAD_FUNC_RETURN (*function)(void*), void* argument, int stackSize = 0,
                                      const char* name = nullptr) {
        return ::startThread(function, argument, stackSize, name);
    }
    /// Sets the bytes of the file system with this directory. Throws platform_error.
    virtual void getDiskBytes(std::string const& directory, std::int64_t& free, std::int64_t& total) {
        std::error_code error;
        std::filesystem::space_info space = std::filesystem::space(directory, error);
        if (error)
            throw flow::platform_error();
        free = static_cast<std::int64_t>(space.available);
        total = static_cast<std::int64_t>(space.capacity);
    }
    virtual bool isAddressOnThisHost(NetworkAddress const& address) const {
        return flow::compat::isLocalAddress(address);
    }
    virtual flow::ProtocolVersion protocolVersion() const { return flow::currentProtocolVersion(); }
    virtual TLSConfig const& getTLSConfig() const { return *flow::compat::tlsConfig(); }
    /// Does nothing, like initTLS().
    virtual void initMetrics() {}
    virtual void initTLS(ETLSInitState = CONNECT) {}
    /// Sends the signal on this thread's loop, at the priority.
    virtual void onMainThread(flow::Promise<flow::Void>&& signal, TaskPriority priority) {
        flow::forwardPromise(flow::Promise<flow::Void>(std::move(signal)),
                             flow::Future<flow::Void>(flow::delay(0, priority)));
    }
    /// Returns a pointer that the program has stored by number; null if there is none.
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
    std::vector<std::function<void()>> stopCallbacks_;
    std::uint64_t taskOfPriority_ = 0; // the number of the task, from 1; 0: none
    TaskPriority priority_ = TaskPriority::Zero;
    bool askedToRun_ = false;
};

namespace flow::compat {

/// Returns the network that stands for the thread's loop.
inline INetwork& loopNetwork() {
    static thread_local INetwork network;
    return network;
}

/// The type of g_network: the thread's loop, until another network is assigned.
class NetworkPointer {
public:
    NetworkPointer& operator=(INetwork* network);
    operator INetwork*() const { return get(); }
    INetwork* operator->() const { return get(); }
    INetwork& operator*() const { return *get(); }
    /// Returns true if a test's network replaces the loop.
    bool isReplaced() const { return replacement_ != nullptr; }

private:
    INetwork* get() const { return replacement_ ? replacement_ : &loopNetwork(); }

    INetwork* replacement_ = nullptr;
};

} // namespace flow::compat

inline constinit thread_local flow::compat::NetworkPointer g_network;

namespace flow::compat {

inline void forgetGivenDelays();

/// The rules of yieldedFuture() while a test's network replaces the loop.
inline constexpr flow::YieldRules kNetworkRules{
    [] { return g_network->check_yield(TaskPriority::DefaultYield); },
    [] { return g_network->delay(0, TaskPriority::DefaultYield); },
};

inline NetworkPointer& NetworkPointer::operator=(INetwork* network) {
    replacement_ = network == &loopNetwork() ? nullptr : network;
    flow::yieldRules = replacement_ ? &kNetworkRules : nullptr;
    forgetGivenDelays();
    return *this;
}

/// The result of delay(). The time counts from the call.
class [[nodiscard]] NetworkDelay {
public:
    using Result = Void;
    using Element = Void;
    static constexpr bool kEndsOnce = true;

    FLOW_INLINE explicit NetworkDelay(Delay delay)
        : deadline_(delay.deadline()), number_(Loop::current().stepsRun()), priority_(delay.priority()) {}
    /// A delay of a test's network.
    explicit NetworkDelay(Future<Void> given);
    // For `isLimited ? delay(1) : Never()`.
    NetworkDelay(Never) : deadline_(std::numeric_limits<double>::infinity()), number_(0) {}
    NetworkDelay(Void) : deadline_(-std::numeric_limits<double>::infinity()), number_(kNoTask) {}

    FLOW_INLINE bool isReady() const {
        if (isGiven_) [[unlikely]]
            return givenIsReady();
        return number_ != Loop::current().stepsRun() && deadline_ <= Loop::current().now();
    }
    FLOW_INLINE void park(WaiterNode& waiter) {
        if (isGiven_) [[unlikely]]
            return parkAtGiven(waiter);
        Loop::current().parkUntil(&waiter, deadline_, priority_);
    }
    FLOW_INLINE Void take() const {
        if (isGiven_) [[unlikely]]
            takeGiven();
        return Void();
    }
    operator Future<Void>() const;

private:
    static constexpr std::uint64_t kNoTask = std::numeric_limits<std::uint64_t>::max();

    // Not inlined, so that the callers are.
    [[gnu::cold]] bool givenIsReady() const;
    [[gnu::cold]] void parkAtGiven(WaiterNode& waiter);
    [[gnu::cold]] void takeGiven() const;

    double deadline_;
    std::uint64_t number_; // of the task that called delay(): not ready in that task. Or of a given future
    TaskPriority priority_ = TaskPriority::DefaultDelay;
    std::int32_t isGiven_ = 0; // a bool of 4 bytes: padding would make a copy wait for the stores
};

/// The futures that a test's network has returned for delays.
class GivenDelays {
public:
    struct Given {
        Future<Void> future;
        Source<NetworkDelay> source;
    };
    static GivenDelays& ofThread() {
        static thread_local GivenDelays all;
        return all;
    }
    std::uint64_t add(Future<Void> future) {
        auto given = std::make_shared<Given>();
        given->future = std::move(future);
        all_[++last_] = std::move(given);
        return last_;
    }
    /// Returns null after the wait for the delay, and after the end of the test's network.
    std::shared_ptr<Given> find(std::uint64_t number) const {
        auto place = all_.find(number);
        return place == all_.end() ? nullptr : place->second;
    }
    std::shared_ptr<Given> take(std::uint64_t number) {
        std::shared_ptr<Given> given = find(number);
        all_.erase(number);
        return given;
    }
    /// Drops the futures, except a future for which something waits.
    void clear() { std::exchange(all_, {}).clear(); }

    static coro::Detached wakeFrom(std::shared_ptr<Given> given) {
        ErrorOr<Void> result = co_await tryGet(given->future);
        if (result.isError())
            given->source.failAll(result.getError());
        while (given->source.isWaitedFor())
            given->source.wakeFirst();
    }

private:
    std::map<std::uint64_t, std::shared_ptr<Given>> all_;
    std::uint64_t last_ = 0;
};

inline void forgetGivenDelays() {
    GivenDelays::ofThread().clear();
}

inline NetworkDelay::NetworkDelay(Future<Void> given)
    : deadline_(0), number_(GivenDelays::ofThread().add(std::move(given))), isGiven_(1) {}

inline bool NetworkDelay::givenIsReady() const {
    auto given = GivenDelays::ofThread().find(number_);
    return !given || given->future.isReady();
}
inline void NetworkDelay::parkAtGiven(WaiterNode& waiter) {
    auto given = GivenDelays::ofThread().find(number_);
    bool isFirst = !given->source.isWaitedFor();
    given->source.park(waiter, *this);
    if (isFirst)
        GivenDelays::wakeFrom(std::move(given));
}
inline void NetworkDelay::takeGiven() const {
    if (auto given = GivenDelays::ofThread().take(number_); given && given->future.isReady())
        (void)given->future.get();
}
inline NetworkDelay::operator Future<Void>() const {
    if (isGiven_) {
        auto given = GivenDelays::ofThread().find(number_);
        return given ? given->future : Future<Void>(Void());
    }
    if (deadline_ == std::numeric_limits<double>::infinity() && number_ == 0)
        return Never();
    if (number_ == kNoTask || isReady())
        return Void();
    return Delay(deadline_, priority_);
}

// For argument-dependent lookup of the operators.
using flow::operator&&;
using flow::operator||;

// Objects, not functions: with a TaskPriority as an argument, a call would also find the functions of flow.

struct DelayFunction {
    FLOW_INLINE NetworkDelay operator()(double seconds, TaskPriority priority = TaskPriority::DefaultDelay) const {
        if (g_network.isReplaced()) [[unlikely]]
            return given(seconds, priority);
        return NetworkDelay(flow::delay(seconds, priority));
    }

private:
    [[gnu::noinline, gnu::cold]] static NetworkDelay given(double seconds, TaskPriority priority) {
        return NetworkDelay(g_network->delay(seconds, priority));
    }
};
struct OrderedDelayFunction {
    FLOW_INLINE NetworkDelay operator()(double seconds, TaskPriority priority = TaskPriority::DefaultDelay) const {
        if (g_network.isReplaced()) [[unlikely]]
            return given(seconds, priority);
        return NetworkDelay(flow::orderedDelay(seconds, priority));
    }

private:
    [[gnu::noinline, gnu::cold]] static NetworkDelay given(double seconds, TaskPriority priority) {
        return NetworkDelay(g_network->orderedDelay(seconds, priority));
    }
};
struct DelayUntilFunction {
    NetworkDelay operator()(double time, TaskPriority priority = TaskPriority::DefaultDelay) const {
        return DelayFunction()(time - g_network->now(), priority);
    }
};
struct DelayJitteredFunction {
    NetworkDelay operator()(double seconds, TaskPriority priority = TaskPriority::DefaultDelay) const {
        return DelayFunction()(jittered(seconds), priority);
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

/// Makes a real loop for this thread, which exists as long as the thread.
inline INetwork* newNet2(TLSConfig const& config, bool = false, bool = false) {
    static thread_local TLSConfig kept;
    kept = config;
    flow::compat::tlsConfig() = &kept;
    static thread_local std::unique_ptr<flow::RealLoop> made;
    made = std::make_unique<flow::RealLoop>();
    flow::compat::mainLoop = flow::compat::loopOfNewNet2 = made.get();
    flow::compat::mainLoopHasEnded = false;
    return &flow::compat::loopNetwork();
}

// As in CoroUtils.h, which does not include this file: with `using namespace flow`, delay() would be ambiguous there.
namespace coro {

inline auto errorOr(flow::compat::NetworkDelay what) {
    return flow::coro::outcome(flow::Future<flow::Void>(what));
}
inline flow::Future<flow::Void> ignore(flow::compat::NetworkDelay what) {
    return what;
}

} // namespace coro
