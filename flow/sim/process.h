#pragma once
// Process: a simulated machine with one program on it. It has a name, an address, a clock, a stream of random numbers,
// knobs and what is attached to it (network, disk), all of which outlive its reboots, and while it runs a loop and its
// actors.
//
//     Process& server = world.start({.name = "server", .main = [] { return serve(); }});
//     world.kill(server);                       // its actors are destroyed, each before its owner; none resumes
//     world.reboot(server, 2.0);                // main is called again, in two seconds
//
// Inside, everything is as in a real process: loop() is the process's own, now() its clock, deterministicRandom() its
// random numbers, and futures are its own: in a checked build it is an assertion failure to use one of another process.

#include "flow/base/random.h"
#include "flow/core/in_place.h"
#include "flow/core/live_blocks.h"
#include "flow/lib/async_trigger.h"
#include "flow/loop/loop.h"
#include "flow/sim/local_clock.h"

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
    /// Called on the process's own loop, at each start. The process ends with this future, with the error that this
    /// throws before it gives one, or with all that it holds when it is killed.
    std::function<Future<Void>()> main;
    /// What knob() answers in it.
    std::map<std::string, double> knobs = {};
    /// How far its clock is ahead of the world's, in seconds.
    double clockOffset = 0;
    /// In how many seconds it is started again when main ends with an error; if not positive, never.
    double restartAfter = 0;
    /// Whether faults of processes may be injected into it.
    bool protectedFromFaults = false;
};

/// What belongs to a process and is simulated around it: its network, its disk.
class Attachment {
public:
    virtual ~Attachment() = default;
    /// Before main is called, on the process's loop: the place to provide() services.
    virtual void started(Process&) {}
    /// The actors are about to be destroyed: nothing that they still do may have any effect.
    virtual void stopped([[maybe_unused]] Process& process, [[maybe_unused]] bool powerLost) {}
    /// What a loss of power would harm now. Most losses of power wait until it would harm one certain thing.
    virtual unsigned risks() const { return 0; }
    /// Which of them there may be at all.
    virtual unsigned possibleRisks() const { return 0; }

    /// What will set the cell at this address, or end the wait of the operation in place, if that is known here, as in
    /// "bytes from server at 2.0.0.1:80"; else nothing. Called as the process, for the report about a simulation that
    /// hangs.
    virtual std::string sourceOf([[maybe_unused]] void const* what) const { return {}; }

    static constexpr unsigned kUnsyncedWrite = 1, kUnsyncedWrites = 2, kUnsyncedName = 4;
};

/// The loop of one life of a process. It is driven by the World.
class ProcessLoop final : public Loop {
public:
    explicit ProcessLoop(Process& process);
    ~ProcessLoop() override { end(); }

    double timer() override;
    bool isSimulated() const override { return true; }
    void useMachines(const char* what) override;
    /// One turn. Afterwards `wakesAt` says when there is more to do.
    void takeTurn();
    double wakesAt() const { return wakesAt_; }
    /// There is something to do now.
    void wake();

private:
    double startTurn() noexcept override;
    bool idleUntil(double deadline) override;
    bool sliceIsOver() override;
    bool runTurn() override;

    Process& process_;
    double wakesAt_ = 0;  // of the world
    double deadline_ = 0; // of this loop: reached, whatever rounding says, when the world's time is `wakesAt_`
};

class Process : NonCopyable {
public:
    std::string const& name() const { return options_.name; }
    /// 1 for the first one; 0 is the world itself.
    std::uint32_t id() const { return id_; }
    /// An IPv4 address, 10.0.x.y, most significant byte first.
    std::uint32_t address() const { return address_; }
    World& world() const { return world_; }
    LocalClock& clock() { return clock_; }
    DeterministicRandom& random() { return random_; }
    ProcessOptions const& options() const { return options_; }

    bool isRunning() const { return loop_ != nullptr; }
    /// Of this life; it must run.
    Loop& loop() const { return *loop_; }
    /// How often it has been started.
    int lives() const { return lives_; }
    /// How main of the last life ended, if it did: with Error() if well.
    std::optional<Error> const& exit() const { return exit_; }
    /// Ready, on the loop of the world, when it does not run any more.
    Future<Void> onStop() { return stopped_.onTrigger(); }

    /// Stays with the process. To be called before its start.
    template <class A, class... Args>
    A& attach(Args&&... args) {
        auto attachment = std::make_unique<A>(std::forward<Args>(args)...);
        A& result = *attachment;
        attachments_.push_back(std::move(attachment));
        return result;
    }

    /// Lets call() run on the process's loop, where it then is a task like any other; dropped when the process does not
    /// run, or stops before. From the world, or from another process, for what simulates what is between them.
    template <class F>
    void post(F call, TaskPriority priority = TaskPriority::DefaultOnMainThread) {
        if (!loop_)
            return;
        makeReady(*new PostedCall<F>(std::move(call)), priority);
    }
    /// The same for a free waiter, without an allocation. The process must run; if it stops before, the waiter is free
    /// again and has not run.
    void makeReady(WaiterNode& waiter, TaskPriority priority) {
        loop_->makeReady(&waiter, priority);
        loop_->wake();
    }

private:
    friend class World;
    friend class ProcessLoop;

    Process(World& world, std::uint32_t id, ProcessOptions options, std::uint64_t seed);

    double wakesAt() const;
    /// Those of its attachments.
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
    AsyncTrigger stopped_;
    int lives_ = 0;
    double pausedUntil_ = 0;
    double slowUntil_ = 0;
    double secondsPerTurn_ = 0;           // while it is slow
    std::int64_t failingAllocation_ = -1; // how many more succeed before one fails; -1: none fails
    unsigned lossAtRisk_ = 0;             // it loses power when it is at this risk; 0: it does not
    double darkSeconds_ = 0;              // and stays down for so long
    bool isEnding_ = false;
    // Of the present life:
    CellGroup cells_;
    std::unique_ptr<ProcessLoop> loop_;
    Future<Void> main_;
    // Of the world:
    Future<Void> start_; // that is to come
};

} // namespace flow
