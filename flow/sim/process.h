#pragma once
// Process: a simulated machine with one program on it. It has a name, an address, a clock, a random generator, knobs
// and attachments (network, disk). All these outlive its reboots. While it runs, it has a loop and actors.
//
//     Process& server = world.start({.name = "server", .main = [] { return serve(); }});
//     world.kill(server);                       // its actors are destroyed, each before its owner; none resumes
//     world.reboot(server, 2.0);                // main is called again, in two seconds
//
// The code of a process is the same as outside of a simulation: Loop::current() is the process's own loop, now() reads
// its clock, wallTime() its calendar, and deterministicRandom() is its generator. A future belongs to its process: in a
// checked build, the use of a future of another process is an assertion failure.

#include "flow/base/random.h"
#include "flow/base/seconds.h"
#include "flow/core/detail/live_blocks.h"
#include "flow/core/in_place.h"
#include "flow/loop/loop.h"
#include "flow/sim/local_clock.h"
#include "flow/sync/async_var.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace flow {

class Process;
class World;

struct ProcessOptions {
    std::string name;
    /// Called on the process's own loop, at each start. The process ends when main has ended or thrown, and the
    /// shielded work of its loop has ended (flow/tasks/scope.h). A kill destroys all actors of the process.
    std::function<Future<Void>()> main;
    /// The values that knob() returns in the process.
    std::map<std::string, double> knobs = {};
    /// The process's clock is ahead of the world's time by this number of seconds.
    Seconds clockOffset = 0;
    /// If main ends with an error, the process starts again after this number of seconds. 0 means that it stays down.
    Seconds restartAfter = 0;
    /// If true, no fault "per second of a process" (flow/sim/faults.h) is injected into this process.
    bool protectedFromFaults = false;
};

/// A part of the simulated machine around a process: its network, its disk.
class Attachment {
public:
    virtual ~Attachment() = default;
    /// Called before main, on the process's loop: the place to provide() services.
    virtual void started(Process&) {}
    /// Called before the actors are destroyed. After this call, nothing that their destructors do may have an effect.
    virtual void stopped([[maybe_unused]] Process& process, [[maybe_unused]] bool powerLost) {}
    /// Returns the kinds of data that a power loss could destroy now, as bits. powerLoss may wait until a bit is set.
    virtual unsigned risks() const { return 0; }
    /// Returns all bits that risks() may ever return.
    virtual unsigned possibleRisks() const { return 0; }

    /// Returns the source that will end a wait for `what`, the address of a cell or an in-place operation, for example
    /// "bytes from server at 2.0.0.1:80"; empty if unknown. Called in the process, for the report about a hang.
    virtual std::string sourceOf([[maybe_unused]] void const* what) const { return {}; }

    static constexpr unsigned kUnsyncedWrite = 1, kUnsyncedWrites = 2, kUnsyncedName = 4;
};

/// The loop of one life of a process. The World runs it.
class ProcessLoop final : public Loop {
public:
    explicit ProcessLoop(Process& process);
    ~ProcessLoop() override { end(); }

    double timer() override;
    double wallTime() override;
    bool isSimulated() const override { return true; }
    void useMachines(const char* what) override;
    /// Runs one turn. Afterwards wakesAt() is the time of the next turn.
    void takeTurn();
    double wakesAt() const { return wakesAt_; }
    /// Makes the loop due now.
    void wake();

private:
    double startTurn() noexcept override;
    bool idleUntil(double deadline) override;
    bool sliceIsOver() override;
    bool runTurn() override;

    Process& process_;
    double wakesAt_ = 0;  // in the world's time
    double deadline_ = 0; // in this loop's time; at wakesAt_, timer() returns at least deadline_, in spite of rounding
};

class Process : NonCopyable {
public:
    std::string const& name() const { return options_.name; }
    /// Returns 1 for the first process; 0 stands for the world itself.
    std::uint32_t id() const { return id_; }
    /// Returns an IPv4 address, 10.0.x.y, most significant byte first.
    std::uint32_t address() const { return address_; }
    World& world() const { return world_; }
    LocalClock& clock() { return clock_; }
    DeterministicRandom& random() { return random_; }
    ProcessOptions const& options() const { return options_; }

    bool isRunning() const { return loop_ != nullptr; }
    /// Returns the loop of this life; the process must run.
    Loop& ownLoop() const { return *loop_; }
    /// Returns the number of starts.
    int lives() const { return lives_; }
    /// Returns the error of main in the last life: Error() if main ended without an error, empty if it did not end.
    std::optional<Error> const& exit() const { return exit_; }
    /// Returns a future that is ready when the process stops the next time. The future belongs to the world's loop.
    Future<Void> onStop() { return stops_.onChange(); }

    /// Attaches a part of the machine, which outlives reboots. Must be called before the start.
    template <class A, class... Args>
    A& attach(Args&&... args) {
        auto attachment = std::make_unique<A>(std::forward<Args>(args)...);
        A& result = *attachment;
        attachments_.push_back(std::move(attachment));
        return result;
    }

    /// Runs call() as a step of the process's loop. Drops it if the process does not run, or stops before the step.
    template <class F>
    void post(F call, TaskPriority priority = TaskPriority::DefaultOnMainThread) {
        if (!loop_)
            return;
        makeReady(*new PostedCall<F>(std::move(call)), priority);
    }
    /// Makes an unused waiter ready on the process's loop, without an allocation. The process must run. If the process
    /// stops before the waiter has run, the waiter is unused again.
    void makeReady(WaiterNode& waiter, TaskPriority priority) {
        loop_->makeReady(&waiter, priority);
        loop_->wake();
    }

private:
    friend class World;
    friend class ProcessLoop;

    Process(World& world, std::uint32_t id, ProcessOptions options, std::uint64_t seed);

    double wakesAt() const;
    unsigned risks() const;
    unsigned possibleRisks() const;

    World& world_;
    std::uint32_t id_;
    std::uint32_t address_;
    ProcessOptions options_;
    LocalClock clock_;
    DeterministicRandom random_;
    std::vector<std::unique_ptr<Attachment>> attachments_;
    std::optional<Error> exit_;
    AsyncVar<int> stops_{0};
    int lives_ = 0;
    double pausedUntil_ = 0;
    double slowUntil_ = 0;
    double secondsPerTurn_ = 0;           // the time that a turn takes while the process is slow
    std::int64_t failingAllocation_ = -1; // allocations that succeed before one fails; -1: none fails
    unsigned lossAtRisk_ = 0;             // the process loses power when it has this risk; 0: no loss is planned
    double darkSeconds_ = 0;              // the seconds for which the process then stays down
    bool isEnding_ = false;
    // State of the present life:
    CellGroup cells_;
    std::unique_ptr<ProcessLoop> loop_;
    Future<Void> main_;
    // State of the world:
    Future<Void> start_; // the next start
};

} // namespace flow
