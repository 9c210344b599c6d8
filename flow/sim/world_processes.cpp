// The lives of a World's processes, and the actions on these processes.
//
// add() makes a process. begin() starts a life: it makes a loop, and posts the call of main to it. takeTurn() runs one
// turn as the process (Entered sets the current loop, random numbers and cells), and checks the invariants. halt() ends
// the life: attachments stop first, so that actions of destructors have no effect; then the detached actors are
// destroyed, then main, then the rest, and last the loop. Remaining cells are leaks, and are kept for the report.
//
// Code of a process may stop its own process, so start, kill, reboot and swapAddresses use whenOutside().

#include "flow/base/detail/seed.h"
#include "flow/base/format.h"
#include "flow/combine/timeout.h"
#include "flow/core/detail/wait_graph.h"
#include "flow/inspect/pending_report.h"
#include "flow/sim/world.h"

#include <cmath>

namespace flow {

/// While an Entered exists, the running code counts as code of the process.
class World::Entered : NonCopyable {
public:
    explicit Entered(Process& process)
        : world_(process.world_), process_(std::exchange(world_.current_, &process)),
          loop_(Loop::setCurrent(process.loop_.get())), random_(replaceDeterministicRandom(&process.random_)),
          cells_(world_.watch_->enter(&process.cells_)) {
        setOwnerOfCells(&process);
    }
    ~Entered() {
        setOwnerOfCells(&world_);
        world_.watch_->enter(cells_);
        replaceDeterministicRandom(random_);
        Loop::setCurrent(loop_);
        world_.current_ = process_;
    }

private:
    World& world_;
    Process* process_;
    Loop* loop_;
    DeterministicRandom* random_;
    CellGroup* cells_;
};

Process& World::add(ProcessOptions options) {
    auto id = static_cast<std::uint32_t>(processes_.size() + 1);
    processes_.emplace_back(new Process(*this, id, std::move(options), seedFor(seed_, format("process %u", id))));
    Process& process = *processes_.back();
    for (ProcessHook* hook : hooks_)
        hook->prepare(process);
    return process;
}

Process& World::start(ProcessOptions options) {
    Process& process = add(std::move(options));
    start(process);
    return process;
}

void World::start(Process& process) {
    whenOutside([this, &process] { begin(process); });
}

void World::begin(Process& process) {
    FLOW_ASSERT(!process.isRunning(), "a simulated process is started while it runs");
    FLOW_ASSERT(process.options_.main, "a simulated process is started that has no main");
    process.start_ = Future<Void>();
    ++process.lives_;
    process.exit_.reset();
    process.failingAllocation_ = -1;
    process.lossAtRisk_ = 0;
    process.slowUntil_ = 0;
    process.pausedUntil_ = 0;
    process.loop_ = std::make_unique<ProcessLoop>(process);
    if (worldWatch_)
        worldWatch_->began(process);
    add({now_, static_cast<std::uint64_t>(process.lives_), process.id_, 0, EventKind::Start});
    process.post([&process] {
        try {
            for (auto& attachment : process.attachments_)
                attachment->started(process);
            process.main_ = process.options_.main();
        } catch (...) {
            process.main_ = currentError();
        }
        FLOW_ASSERT(process.main_.isValid(), "main of a simulated process gave an invalid future");
    });
}

void World::halt(Process& process, bool powerLost) {
    process.start_ = Future<Void>();
    if (!process.isRunning())
        return;
    {
        Entered entered(process);
        process.isEnding_ = true;
        for (auto& attachment : process.attachments_)
            attachment->stopped(process, powerLost);
        {
            StoppedMachine stopped(process.cells_);
            stopped.destroyDetached(); // first: they may refer to variables of main, which has started them
            process.main_ = Future<Void>();
            stopped.destroyRest();
            if (worldWatch_)
                worldWatch_->ends(process);
            process.loop_.reset();
        } // here the destructor of `stopped` destroys actors that destructors of posted calls have started
        process.isEnding_ = false;
    }
    // The event comes after the last step and the destructors, to cover all random numbers that they have drawn.
    add({now_, process.random_.peek(), process.id_, process.exit_ ? process.exit_->code() : -1, EventKind::End});
    if (!process.cells_.isEmpty()) {
        dead_.push_back(std::make_unique<CellGroup>());
        process.cells_.moveTo(*dead_.back());
    }
    process.stops_.set(process.stops_.get() + 1);
}

void World::kill(Process& process, bool powerLost) {
    whenOutside([this, &process, powerLost] { halt(process, powerLost); });
}

void World::startLater(Process& process, Seconds seconds) {
    auto start = [](World* world, Process* process, double seconds) -> Future<Void> {
        co_await delay(seconds);
        if (!process->isRunning())
            world->begin(*process);
    };
    Future<Void> later = start(this, &process, seconds);
    if (!later.isReady())
        process.start_ = later;
}

void World::reboot(Process& process, Seconds seconds, bool powerLost) {
    whenOutside([=, this, &process] {
        halt(process, powerLost);
        startLater(process, seconds);
    });
}

void World::pause(Process& process, Seconds seconds) {
    process.pausedUntil_ = std::max(process.pausedUntil_, now_ + seconds);
}

void World::slowDown(Process& process, Seconds seconds, Seconds secondsPerTurn) {
    process.slowUntil_ = now_ + seconds;
    process.secondsPerTurn_ = secondsPerTurn;
}

void World::resume(Process& process) {
    process.pausedUntil_ = process.slowUntil_ = now_;
}

void World::swapAddresses(Process& a, Process& b) {
    whenOutside([this, &a, &b] {
        halt(a, false);
        halt(b, false);
        std::swap(a.address_, b.address_);
        startLater(a, 0);
        startLater(b, 0);
    });
}

void World::jumpClock(Process& process, Seconds seconds) {
    FLOW_ASSERT(seconds >= 0 && std::isfinite(seconds), "a clock jumps by seconds, from 0 on: it never goes back");
    process.clock_.jump(now_, seconds);
    if (process.loop_)
        process.loop_->wake();
}

void World::setClockRate(Process& process, double rate) {
    FLOW_ASSERT(rate > 0 && std::isfinite(rate), "a clock that does not go on: its rate must be more than 0");
    process.clock_.setRate(now_, rate);
    if (process.loop_)
        process.loop_->wake();
}

void World::failAllocation(Process& process, std::int64_t n) {
    process.failingAllocation_ = n;
}

void World::takeTurn(Process& process) {
    bool ended = false;
    {
        Entered entered(process);
        process.loop_->takeTurn();
        LastWork* last = process.loop_->service<LastWork>();
        if (process.main_.isValid() && process.main_.isReady() && (!last || last->ended().isReady())) {
            ended = true;
            process.exit_ = process.main_.isError() ? process.main_.getError() : Error();
        }
    }
    if (process.slowUntil_ > now_)
        process.pausedUntil_ = std::max(process.pausedUntil_, now_ + process.secondsPerTurn_);
    for (auto& check : invariants_)
        if (auto wrong = check())
            fail(*wrong);
    if (ended) {
        halt(process, false);
        if (process.exit_->isValid() && process.options_.restartAfter > 0)
            startLater(process, process.options_.restartAfter);
    } else if (process.lossAtRisk_ != 0 && (process.risks() & process.lossAtRisk_) != 0) {
        injected(FaultKind::powerLoss, process.id_);
        reboot(process, process.darkSeconds_, true);
    }
}

void World::stopAll() {
    faultsToCome_ = Future<Void>();
    for (auto& process : processes_)
        halt(*process, false);
}

std::string World::ownActors() const {
    return describeWaiting(cells_) + waitCycles(cells_);
}

std::string World::waitGraph() const {
    std::string text = "the world:\n" + ownActors();
    for (auto const& process : processes_) {
        if (!process->isRunning())
            continue;
        Entered entered(*process);
        text += process->name() + ":\n" +
                describeWaiting(process->cells_,
                                [&](void const* what) {
                                    std::string source;
                                    for (auto const& each : process->attachments_)
                                        source += each->sourceOf(what);
                                    return source;
                                }) +
                waitCycles(process->cells_);
    }
    return text;
}

} // namespace flow
