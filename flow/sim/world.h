#pragma once
// World: a whole cluster in one thread. It is a loop on virtual time, for the test and for what is between processes;
// the processes have loops of their own, which it runs in the order of time.
//
//     World world(seed, Faults::swarm(seed));
//     Process& server = world.start({.name = "server", .main = serve});
//     world.run(checkIt(world));                  // on the world's own loop: nothing injects what runs there
//     std::uint64_t digest = world.digest();      // the same whenever the seed is
//
// Time passes when neither the world nor a process has anything ready, straight to the next deadline of any. A process
// that is ready runs one turn at a time; among those that are ready at the same time the seed chooses.
//
// One at a time on a thread. All futures of the world's own loop must be destroyed before it.

#include "flow/base/buggify.h"
#include "flow/loop/loop.h"
#include "flow/sim/digest.h"
#include "flow/sim/failure.h"
#include "flow/sim/fault_filter.h"
#include "flow/sim/faults.h"
#include "flow/sim/process.h"

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace flow {

/// Attaches to processes what a simulation of the world gives to all of them.
class ProcessHook {
public:
    /// Called once for each process, when it has been made and before its first start.
    virtual void prepare(Process& process) = 0;

protected:
    ~ProcessHook() = default;
};

/// Sees what happens in a world.
class WorldWatch {
public:
    /// It has a loop, and nothing on it has run.
    virtual void began(Process& process) noexcept = 0;
    /// Its actors are gone, its loop goes.
    virtual void ends(Process& process) noexcept = 0;
    /// A fault; `process` is the one that ran, null if none did.
    virtual void injected(FaultKind kind, Process* process) noexcept = 0;

protected:
    ~WorldWatch() = default;
};

class World final : public Loop, public FaultSource, BuggifySource {
public:
    class Kernel;

    /// `record`, if there is one, gets every event.
    explicit World(std::uint64_t seed, Faults const& faults = {}, Record* record = nullptr);
    /// Stops all processes.
    ~World() override;

    std::uint64_t seed() const { return seed_; }
    double timer() override { return now_; }
    bool isSimulated() const override { return true; }

    /// Makes a process; it has not been started, so that things can still be attached to it.
    Process& add(ProcessOptions options);
    /// The same, and starts it.
    Process& start(ProcessOptions options);
    /// Calls main. It must not run.
    void start(Process& process);
    std::vector<std::unique_ptr<Process>> const& processes() const { return processes_; }
    /// The process that runs; null: the world's own code runs.
    Process* current() const { return current_; }
    /// For each process that will be made, until it is removed.
    void add(ProcessHook& hook) { hooks_.push_back(&hook); }
    void remove(ProcessHook& hook) { std::erase(hooks_, &hook); }
    /// From here on; null: none. One at a time.
    void setWatch(WorldWatch* watch) { worldWatch_ = watch; }

    // What can be done to a process. Called from the code of a process, it is done when that process's turn is over.

    /// Stops it; it stays down until it is started. With powerLost, disks lose what was not synced. Its computations
    /// are destroyed in the order in which dropping the future of main would: see "The end of a process" in
    /// flow/docs/simulation.md.
    void kill(Process& process, bool powerLost = false);
    /// Stops it, if it runs, and starts it after so many seconds.
    void reboot(Process& process, double seconds = 0, bool powerLost = false);
    /// Nothing of it runs for so many seconds.
    void pause(Process& process, double seconds);
    /// For so many seconds each of its turns takes so long.
    void slowDown(Process& process, double seconds, double secondsPerTurn);
    /// Ends both before their time.
    void resume(Process& process);
    /// Both are rebooted, with each other's address.
    void swapAddresses(Process& a, Process& b);
    /// Its clock from here on shows so much more; not less than now.
    void jumpClock(Process& process, double seconds);
    /// Its clock from here on gains or loses: 1 is the right rate.
    void setClockRate(Process& process, double rate);
    /// The n-th allocation of its actors from here on fails, counted from 0.
    void failAllocation(Process& process, std::int64_t n);

    // Faults.

    Faults const& faults() const { return faults_; }
    /// For what cannot stand some of them.
    void setFaults(Faults const& faults);
    /// From here on nothing goes wrong any more. What has begun still ends in its time.
    void disableFaults();
    FaultCounts const& faultCounts() const { return faultCounts_; }
    /// If so, it is counted and is an event.
    bool injects(FaultKind kind, std::uint64_t what = 0) override;
    /// Counts one that was injected in another way.
    void injected(FaultKind kind, std::uint64_t what);
    /// How a fault that is "per second of a process" is done, where the world cannot do it: those of the network.
    void onFault(FaultKind kind, std::function<void(Process&)> inject);
    /// Leaves out some of the faults that would be injected.
    void setFilter(FaultFilter filter) { filter_ = std::move(filter); }
    /// Those that were admitted, each with its number: with only these it would be the same run. Some come to nothing.
    SomeFaults const& injectedFaults() const { return injected_; }
    DeterministicRandom& random(FaultKind kind) override { return dice_.how(kind); }
    /// No process draws from it.
    DeterministicRandom& random() override { return random_; }

    // Right and wrong.

    /// The run has failed, from whatever code; run() returns after the current task. Only the first one counts.
    void fail(std::string const& text);
    /// Asked after each turn of a process: what is wrong, or nothing.
    void addInvariant(std::function<std::optional<std::string>()> check) { invariants_.push_back(std::move(check)); }
    /// It fails when its time comes to that, or does not move for so many tasks.
    void setLimit(double seconds, std::uint64_t tasksInOneMoment = kTasksInOneMoment) {
        limit_ = seconds;
        tasksInOneMoment_ = tasksInOneMoment;
    }
    static constexpr std::uint64_t kTasksInOneMoment = 10'000'000;
    std::optional<SimulationFailure> const& failure() const { return failure_; }
    /// Stops all processes, for good.
    void stopAll();

    // What injected.

    std::uint64_t digest() const { return digest_.value(); }
    std::uint64_t events() const { return digest_.events(); }
    /// An event of the kind Note or Message.
    void note(EventKind kind, std::uint64_t detail);
    /// Which actor waits for which, in the world and in every process.
    std::string waitGraph() const;
    /// Cells of processes, or of lives of processes, that have stopped. When all has gone well there are none. If there
    /// are, a global keeps a future or a promise, or something that outlives its `owner` does.
    std::size_t leakedCells() const;
    /// The actors of the world's own code that have not ended, each with what it waits for, as waitGraph() has them.
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
    void startLater(Process& process, double seconds);
    bool admits(FaultKind kind);
    bool inject(FaultKind kind, Process& process);
    void noteTask(WaiterNode* waiter, TaskPriority priority, Process* process);
    void add(SimulationEvent const& event);

    std::uint64_t seed_;
    Faults faults_;
    FaultCounts faultCounts_;
    FaultFilter filter_;
    FaultCounts candidates_; // that would have been injected, with those that the filter left out
    SomeFaults injected_;
    double limit_ = std::numeric_limits<double>::infinity();
    std::uint64_t tasksInOneMoment_ = kTasksInOneMoment;
    double moment_ = 0;
    std::uint64_t tasks_ = 0; // in this moment
    std::optional<SimulationFailure> failure_;
    std::vector<std::function<std::optional<std::string>()>> invariants_;
    Record* record_;
    Digest digest_;
    FaultDice dice_;
    std::map<std::uint64_t, std::optional<DeterministicRandom>> visits_; // of sites of buggify(); none: it is not armed
    DeterministicRandom random_;                                         // of what is between processes
    DeterministicRandom order_;                                          // of processes that are ready at one time
    DeterministicRandom ownRandom_;                                      // of the world's own code
    DeterministicRandom* randomBefore_;                                  // of the thread
    std::unique_ptr<LiveBlocks> watch_;
    CellGroup cells_;                              // of the world's own code
    std::vector<std::unique_ptr<CellGroup>> dead_; // of lives that have ended
    std::vector<std::unique_ptr<Process>> processes_;
    std::vector<ProcessHook*> hooks_;
    Process* current_ = nullptr;
    WorldWatch* worldWatch_ = nullptr;
    std::vector<std::function<void(Process&)>> injections_;
    Future<Void> faultsToCome_;
};

/// While it exists, what runs within a call of a process is the simulated machine's and not the process's: no
/// allocation of it fails, and its events are the world's. It must neither make futures nor end any.
class World::Kernel : NonCopyable {
public:
    explicit Kernel(World& world) : world_(world), process_(std::exchange(world.current_, nullptr)) {}
    ~Kernel() { world_.current_ = process_; }

private:
    World& world_;
    Process* process_;
};

} // namespace flow
