#include "flow/sim/process.h"

#include "flow/base/format.h"
#include "flow/loop/detail/run_turn.h"
#include "flow/sim/world.h"

#include <limits>

namespace flow {

Process::Process(World& world, std::uint32_t id, ProcessOptions options, std::uint64_t seed)
    : world_(world), id_(id), address_(0x0A000000 + id), options_(std::move(options)),
      clock_(world.now(), world.now() + options_.clockOffset), random_(seed) {}

double Process::wakesAt() const {
    return loop_ ? std::max(loop_->wakesAt(), pausedUntil_) : std::numeric_limits<double>::infinity();
}

unsigned Process::risks() const {
    unsigned all = 0;
    for (auto const& each : attachments_)
        all |= each->risks();
    return all;
}

unsigned Process::possibleRisks() const {
    unsigned all = 0;
    for (auto const& each : attachments_)
        all |= each->possibleRisks();
    return all;
}

ProcessLoop::ProcessLoop(Process& process) : Loop(NotCurrent()), process_(process) {
    wake();
    now_ = ProcessLoop::timer();
}

double ProcessLoop::timer() {
    double worldTime = process_.world_.now();
    double local = process_.clock_.at(worldTime);
    return worldTime >= wakesAt_ ? std::max(local, deadline_) : local;
}

double ProcessLoop::wallTime() {
    return process_.clock_.systemAt(process_.world_.now());
}

void ProcessLoop::useMachines(const char* what) {
    FLOW_ASSERT(false, format("the simulated process '%s' would use the %s of the machine: none are attached to it",
                              process_.name().c_str(), what)
                           .c_str());
}

void ProcessLoop::takeTurn() {
    step();
}

void ProcessLoop::wake() {
    double worldTime = process_.world_.now();
    if (wakesAt_ > worldTime) {
        wakesAt_ = worldTime;
        deadline_ = 0;
    }
}

double ProcessLoop::startTurn() noexcept {
    double local = std::max(timer(), now_); // after a change of rate the clock may be a rounding error behind
    wakesAt_ = process_.world_.now();
    deadline_ = 0;
    return local;
}

bool ProcessLoop::idleUntil(double deadline) {
    FLOW_ASSERT(isDriven(), "a simulated process calls run() of its own loop, which the world runs");
    deadline_ = deadline;
    wakesAt_ = deadline == std::numeric_limits<double>::infinity() ? deadline : process_.clock_.worldTimeAt(deadline);
    return true;
}

bool ProcessLoop::sliceIsOver() {
    resetSlice();
    return true;
}

bool ProcessLoop::runTurn() {
    auto take = [this] {
        WaiterNode* next = takeReady();
        if (next)
            process_.world_.noteStep(next, currentPriority(), &process_);
        return next;
    };
    return isWatched() ? runWatchedTurnWith(take) : runTurnWith(take);
}

} // namespace flow
