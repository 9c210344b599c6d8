#pragma once
// World: a simulated cluster in one thread. A World is a loop on virtual time, for the test and the simulated networks.
// Each process has its own loop, and the world runs these loops in the order of time.
//
//     World world(seed, Faults::swarm(seed));
//     Process& server = world.start({.name = "server", .main = serve});
//     world.run(checkIt(world));                  // on the world's own loop: no fault is injected there
//     std::uint64_t digest = world.digest();      // the same for each run of this seed
//
// When neither the world nor a process has a ready step, time goes straight to the earliest deadline. A ready process
// runs one turn at a time; if several are ready at the same time, the seed chooses one.
//
// A thread has at most one World at a time. All futures of the world's own loop must be destroyed before the World.

#include "flow/base/buggify.h"
#include "flow/base/seconds.h"
#include "flow/loop/loop.h"
#include "flow/sim/detail/fault_filter.h"
#include "flow/sim/digest.h"
#include "flow/sim/failure.h"
#include "flow/sim/faults.h"
#include "flow/sim/process.h"

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace flow {

/// Attaches parts such as a network to all processes of a world.
class ProcessHook {
public:
    /// Called once for each process, when it has been made and before its first start.
    virtual void prepare(Process& process) = 0;

protected:
    ~ProcessHook() = default;
};

/// Observes the events of a world.
class WorldWatch {
public:
    /// Called when the process has a loop, before anything runs on this loop.
    virtual void began(Process& process) noexcept = 0;
    /// Called between the destruction of the process's actors and the destruction of its loop.
    virtual void ends(Process& process) noexcept = 0;
    /// Called when a fault was injected. `process` is the process that runs now; null if the world's own code runs.
    virtual void injected(FaultKind kind, Process* process) noexcept = 0;

protected:
    ~WorldWatch() = default;
};

class World final : public Loop, public FaultSource, BuggifySource {
public:
    class Kernel;

    /// Adds every event to `record` if it is not null.
    explicit World(std::uint64_t seed, Faults const& faults = {}, Record* record = nullptr);
    /// Stops all processes.
    ~World() override;

    std::uint64_t seed() const { return seed_; }
    double timer() override { return now_; }
    bool isSimulated() const override { return true; }

    /// Makes a process without starting it, so that parts can still be attached to it.
    Process& add(ProcessOptions options);
    /// Like add(), and starts the process.
    Process& start(ProcessOptions options);
    /// Starts the process: calls its main. The process must not be running.
    void start(Process& process);
    std::vector<std::unique_ptr<Process>> const& processes() const { return processes_; }
    /// Returns the process that runs now; null if the world's own code runs.
    Process* current() const { return current_; }
    /// Calls hook.prepare() for each process that is made from now on, until remove().
    void add(ProcessHook& hook) { hooks_.push_back(&hook); }
    void remove(ProcessHook& hook) { std::erase(hooks_, &hook); }
    /// Makes `watch` the observer of the world, in place of the previous observer. Null means no observer.
    void setWatch(WorldWatch* watch) { worldWatch_ = watch; }

    // If code of a process calls start(), kill(), reboot() or swapAddresses(), the action follows the process's turn.

    /// Stops the process until the next start. If `powerLost`, its disk may lose unsynced data. First the actors that
    /// nobody awaits are destroyed, then all others: see "The end of a process" in flow/docs/simulation.md.
    void kill(Process& process, bool powerLost = false);
    /// Stops the process, if it runs, and starts it after `seconds`.
    void reboot(Process& process, Seconds seconds = 0, bool powerLost = false);
    /// Lets no code of the process run for `seconds`.
    void pause(Process& process, Seconds seconds);
    /// Makes each turn of the process take `secondsPerTurn`, for `seconds`.
    void slowDown(Process& process, Seconds seconds, Seconds secondsPerTurn);
    /// Ends a pause and a slowdown now.
    void resume(Process& process);
    /// Reboots both processes, each with the address of the other.
    void swapAddresses(Process& a, Process& b);
    /// Sets the process's clock ahead by `seconds`, which must not be negative.
    void jumpClock(Process& process, Seconds seconds);
    /// Sets the rate of the process's clock from now on; 1 is the rate of the world's time.
    void setClockRate(Process& process, double rate);
    /// Makes one allocation of the process's actors fail: `n` allocations succeed, then the next one fails.
    void failAllocation(Process& process, std::int64_t n);

    Faults const& faults() const { return faults_; }
    /// Changes the probabilities, for a test that cannot pass with some of the faults.
    void setFaults(Faults const& faults);
    /// Injects no more faults. A fault that lasts for some time, such as a pause, still ends when it would have ended.
    void disableFaults();
    FaultCounts const& faultCounts() const { return faultCounts_; }
    /// Returns true if a fault is injected now. The fault is then counted, and becomes an event of the digest.
    bool injects(FaultKind kind, std::uint64_t what = 0) override;
    /// Counts a fault that the caller has injected without a call of injects().
    void injected(FaultKind kind, std::uint64_t what);
    /// Sets the function that injects faults of `kind`, a kind "per second of a process" that needs the network.
    void onFault(FaultKind kind, std::function<void(Process&)> inject);
    /// Sets the filter: from now on, only faults that it admits are injected.
    void setFilter(FaultFilter filter) { filter_ = std::move(filter); }
    /// Returns the faults that the filter admitted, with their numbers, even if they had no effect. Another run of this
    /// seed with a filter that admits only these faults is equal to this run.
    SomeFaults const& injectedFaults() const { return injected_; }
    DeterministicRandom& random(FaultKind kind) override { return dice_.how(kind); }
    /// Returns the random generator of the world. No process draws from it.
    DeterministicRandom& random() override { return random_; }

    /// Makes the run fail; any code may call it. run() returns after the current step. Only the first failure counts.
    void fail(std::string const& text);
    /// Calls check() after each turn of a process. If check() returns a text, the run fails with this text.
    void addInvariant(std::function<std::optional<std::string>()> check) { invariants_.push_back(std::move(check)); }
    /// Makes the run fail after `seconds` of the world's time, or after `stepsInOneMoment` steps at one time.
    void setLimit(Seconds seconds, std::uint64_t stepsInOneMoment = kStepsInOneMoment) {
        limit_ = seconds;
        stepsInOneMoment_ = stepsInOneMoment;
    }
    static constexpr std::uint64_t kStepsInOneMoment = 10'000'000;
    std::optional<SimulationFailure> const& failure() const { return failure_; }
    /// Stops all processes, cancels all planned starts, and ends the faults "per second of a process".
    void stopAll();

    std::uint64_t digest() const { return digest_.value(); }
    std::uint64_t events() const { return digest_.events(); }
    /// Adds an event of the kind Note or Message.
    void note(EventKind kind, std::uint64_t detail);
    /// Returns the wait graph of the world's own actors and of the actors of every process.
    std::string waitGraph() const;
    /// Returns the number of cells that remain from stopped processes and from earlier lives of processes. If it is not
    /// 0, a global, or another object that outlives the process, holds a future or a promise.
    std::size_t leakedCells() const;
    /// Returns the world's own actors that have not ended, with their waits, in the format of waitGraph().
    std::string ownActors() const;

private:
    friend class ProcessLoop;
    friend Future<Void> injectFaults(World& world);
    class Entered;
    class Watch;

    double startTurn() noexcept override { return now_; }
    bool idleUntil(double deadline) override;
    bool sliceIsOver() override;
    bool runTurn() override;
    bool buggify(const char* file, unsigned line, double probability = kUsual) override;
    double const* findKnob(std::string const& name) const override;

    template <class F>
    void whenOutside(F call) {
        if (current_)
            post(std::move(call));
        else
            call();
    }
    Process* next();
    void takeTurn(Process& process);
    void begin(Process& process);
    void halt(Process& process, bool powerLost);
    void startLater(Process& process, Seconds seconds);
    bool admits(FaultKind kind);
    bool inject(FaultKind kind, Process& process);
    void noteStep(WaiterNode* waiter, TaskPriority priority, Process* process);
    void add(SimulationEvent const& event);

    std::uint64_t seed_;
    Faults faults_;
    FaultCounts faultCounts_;
    FaultFilter filter_;
    FaultCounts candidates_; // faults that would be injected without the filter
    SomeFaults injected_;
    double limit_ = std::numeric_limits<double>::infinity();
    std::uint64_t stepsInOneMoment_ = kStepsInOneMoment;
    double moment_ = 0;
    std::uint64_t steps_ = 0; // the number of steps in this moment
    std::optional<SimulationFailure> failure_;
    std::vector<std::function<std::optional<std::string>()>> invariants_;
    Record* record_;
    Digest digest_;
    FaultDice dice_;
    std::map<std::uint64_t, std::optional<DeterministicRandom>>
        visits_;                        // for each site of buggify(): its generator; empty if the site is not armed
    DeterministicRandom random_;        // for parts between processes, such as the network
    DeterministicRandom order_;         // chooses among processes that are ready at the same time
    DeterministicRandom ownRandom_;     // for the world's own code
    DeterministicRandom* randomBefore_; // the generator that the thread had before
    std::unique_ptr<LiveBlocks> watch_;
    CellGroup cells_;                              // the cells of the world's own code
    std::vector<std::unique_ptr<CellGroup>> dead_; // the cells of lives that have ended
    std::vector<std::unique_ptr<Process>> processes_;
    std::vector<ProcessHook*> hooks_;
    Process* current_ = nullptr;
    WorldWatch* worldWatch_ = nullptr;
    std::vector<std::function<void(Process&)>> injections_;
    Future<Void> faultsToCome_;
};

/// While a Kernel exists, the code that runs counts as code of the simulated machine, even if a process has called it:
/// none of its allocations fails, and its events are events of the world. This code must neither make nor end futures.
class World::Kernel : NonCopyable {
public:
    explicit Kernel(World& world) : world_(world), process_(std::exchange(world.current_, nullptr)) {}
    ~Kernel() { world_.current_ = process_; }

private:
    World& world_;
    Process* process_;
};

} // namespace flow
