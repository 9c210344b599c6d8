// A signal reaches its waiters as follows. The process has one handler, handle(). It calls come() of each loop's hub.
// come() sets a bit in `pending_` and puts the hub into the loop's inbox, unless the hub is there already. When the hub
// runs, spread() gives each pending signal the next arrival number, and wakes the source of each set that contains a
// pending signal. Among the signals of its set, a waiter takes the signal that has arrived first.
//
// The handler may interrupt any code on any thread, so it takes no lock and reads only `hubs` and atomics. The mutex
// guards the rest of ProcessSignals against other loops. A hub that ends clears its place in `hubs`, and then waits
// until no handler runs that may still have its address.

#include "flow/wait/signals.h"

#include "flow/base/format.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

namespace flow {
namespace detail {
namespace {

constexpr int kSignals = 65;
constexpr std::size_t kLoops = 64; // the most loops that can wait for signals at the same time

class SignalHub;

/// The state that all loops share. A handler uses only `arrivals`, and `hubs` while it is counted in `handlers`.
struct ProcessSignals {
    std::mutex mutex; // guards `users`, `before` and changes of `hubs`
    std::array<int, kSignals> users{};
    std::array<struct sigaction, kSignals> before{};
    std::array<std::atomic<SignalHub*>, kLoops> hubs{};
    std::atomic<int> handlers{0};
    std::array<std::atomic<std::uint64_t>, kSignals> arrivals{};
};

ProcessSignals& process() {
    static ProcessSignals signals;
    return signals;
}

} // namespace

struct SignalGroup {
    SignalGroup(SignalHub& h, std::uint64_t m) : hub(h), mask(m) {}

    SignalHub& hub;
    std::uint64_t mask;
    Source<Signals> source;
};

namespace {

/// The signals of one loop. A signal handler puts the hub into the loop's inbox.
class SignalHub : public Waiter, public LoopOwned {
public:
    static SignalHub& ofThisLoop() {
        SignalHub* hub = Loop::current().service<SignalHub>();
        if (!hub) {
            Loop::current().provide<SignalHub>(nullptr); // makes the place for the hub, so that nothing fails below
            hub = new SignalHub(Loop::current());
            Loop::current().provide<SignalHub>(hub);
        }
        return *hub;
    }

    explicit SignalHub(Loop& loop) : Waiter{}, loop_(loop), guard_(loop) {
        resume = [](Waiter* waiter) { static_cast<SignalHub*>(waiter)->spread(); };
        destroy = [](Waiter* waiter) { delete static_cast<SignalHub*>(waiter); };
        awaited = Awaited::turn();
        LoopOwned::end = [](LoopOwned* owned) { static_cast<SignalHub*>(owned)->endWithLoop(); };
        std::lock_guard lock(process().mutex);
        auto* place = std::find(process().hubs.begin(), process().hubs.end(), nullptr);
        if (place == process().hubs.end())
            throw platform_error();
        *place = this;
        loop.add(*this);
    }

    SignalGroup& group(std::uint64_t mask) {
        for (SignalGroup& each : groups_)
            if (each.mask == mask)
                return each;
        catchAll(mask & ~caught_.load());
        return groups_.emplace_back(*this, mask);
    }

    /// Called by a signal handler.
    void come(int number) noexcept {
        if (!(caught_.load() >> (number - 1) & 1))
            return;
        pending_.fetch_or(std::uint64_t{1} << (number - 1));
        if (!isQueued_.exchange(true))
            loop_.putIntoInbox(*this, TaskPriority::High);
    }

    std::uint64_t arrivals() const { return arrivals_; }
    /// Returns the signal that `op` would take; 0 if there is none.
    int next(Signals const& op) const {
        int found = 0;
        for (int number = 1; number < kSignals; ++number) {
            auto at = static_cast<std::size_t>(number);
            bool isWanted = op.group->mask >> (number - 1) & 1;
            if (isWanted && arrived_[at] > std::min(op.since, taken_[at]) &&
                (found == 0 || arrived_[at] < arrived_[static_cast<std::size_t>(found)]))
                found = number;
        }
        return found;
    }
    void noteTaken(int number) {
        auto at = static_cast<std::size_t>(number);
        taken_[at] = arrived_[at];
    }

private:
    static void handle(int number) {
        int before = errno;
        ProcessSignals& all = process();
        all.handlers.fetch_add(1);
        all.arrivals[static_cast<std::size_t>(number)].fetch_add(1);
        for (auto& place : all.hubs)
            if (SignalHub* hub = place.load())
                hub->come(number);
        all.handlers.fetch_sub(1);
        errno = before;
    }

    void catchAll(std::uint64_t mask) {
        std::lock_guard lock(process().mutex);
        for (int number = 1; number < kSignals; ++number) {
            if (!(mask >> (number - 1) & 1))
                continue;
            auto at = static_cast<std::size_t>(number);
            if (process().users[at] == 0) {
                struct sigaction action = {};
                action.sa_handler = handle;
                action.sa_flags = SA_RESTART;
                if (::sigaction(number, &action, &process().before[at]) != 0)
                    throw client_invalid_operation().withSentence(
                        format("signals(): the system lets no program catch signal %d", number));
            }
            ++process().users[at];
            caught_.fetch_or(std::uint64_t{1} << (number - 1));
        }
    }

    void spread() {
        isQueued_ = false; // before `pending_` is read: a later signal puts the hub into the inbox again
        awaited = Awaited::turn();
        std::uint64_t pending = pending_.exchange(0);
        for (int number = 1; number < kSignals; ++number)
            if (pending >> (number - 1) & 1)
                arrived_[static_cast<std::size_t>(number)] = ++arrivals_;
        for (SignalGroup& each : groups_)
            if (each.mask & pending)
                each.source.wakeInTurn(TaskPriority::High);
    }

    void endWithLoop() {
        {
            std::lock_guard lock(process().mutex);
            for (int number = 1; number < kSignals; ++number) {
                auto at = static_cast<std::size_t>(number);
                if ((caught_.load() >> (number - 1) & 1) && --process().users[at] == 0)
                    ::sigaction(number, &process().before[at], nullptr);
            }
            for (auto& place : process().hubs)
                if (place == this)
                    place = nullptr;
        }
        while (process().handlers != 0) // a handler may still have a pointer to this hub
            std::this_thread::yield();  // nondeterminism: a simulated loop has no hub
        loop_.provide<SignalHub>(nullptr);
        guard_.reset();
        for (SignalGroup& each : groups_)
            each.source.abandonAll();
        if (!isQueued_) // the loop destroys a hub that is queued
            delete this;
    }

    Loop& loop_;
    std::optional<WorkGuard> guard_;
    std::atomic<std::uint64_t> caught_{0};
    std::atomic<std::uint64_t> pending_{0}; // the signals that have come since spread()
    std::atomic<bool> isQueued_{false};     // true if the hub is in the inbox or the ready queue
    std::uint64_t arrivals_ = 0;
    std::array<std::uint64_t, kSignals> arrived_{}; // the number of the last arrival of each signal
    std::array<std::uint64_t, kSignals> taken_{};   // the number of the last arrival that a waiter has taken
    std::list<SignalGroup> groups_;
};

} // namespace

std::uint64_t signalsSoFar(int number) noexcept {
    return process().arrivals[static_cast<std::size_t>(number)].load();
}

} // namespace detail

bool Signals::isReady() const {
    return group->hub.next(*this) != 0;
}

void Signals::park(WaiterNode& waiter) {
    group->source.park(waiter, *this);
}

int Signals::take() const {
    int number = group->hub.next(*this);
    group->hub.noteTaken(number);
    return number;
}

void Signals::describe(Description& out) const {
    std::string names;
    for (int number = 1; number < detail::kSignals; ++number)
        if (group->mask >> (number - 1) & 1) {
            char const* name = ::sigabbrev_np(number); // null for the signals from SIGRTMIN on
            names += (names.empty() ? "" : ", ") + (name ? format("SIG%s", name) : format("%d", number));
        }
    out.text = (names.find(',') == std::string::npos ? "signal " : "the first of the signals ") + names;
}

Signals signals(SignalSet numbers) {
    Loop::current().useMachines("signals");
    if (numbers.mask() == 0)
        throw client_invalid_operation().withSentence("signals(): the set is empty; it must have a signal");
    auto& hub = detail::SignalHub::ofThisLoop();
    return {&hub.group(numbers.mask()), hub.arrivals()};
}

} // namespace flow
