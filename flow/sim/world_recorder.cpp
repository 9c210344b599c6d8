#include "flow/sim/world_recorder.h"

#include <unistd.h>

namespace flow {

WorldRecorder::WorldRecorder(World& world, std::size_t bytesOfProcess)
    : world_(world), bytesOfProcess_(bytesOfProcess), clock_(&world) {
    world_.LoopMachine::add(logOf(nullptr));
    for (auto const& process : world_.processes())
        if (process->isRunning())
            began(*process);
    world_.setWatch(this);
    addEndingWatch(*this);
    addMarkTarget(*this);
}

WorldRecorder::~WorldRecorder() {
    removeMarkTarget(*this);
    removeEndingWatch(*this);
    world_.setWatch(nullptr);
    for (auto const& process : world_.processes())
        if (process->isRunning())
            ends(*process);
    world_.LoopMachine::remove(logOf(nullptr));
}

trace::StepLog& WorldRecorder::logOf(Process* process) {
    std::size_t number = process ? process->id() : 0;
    if (number >= logs_.size())
        logs_.resize(number + 1);
    if (!logs_[number])
        logs_[number] = std::make_unique<trace::StepLog>(bytesOfProcess_, clock_);
    return *logs_[number];
}

void WorldRecorder::began(Process& process) noexcept {
    process.ownLoop().add(logOf(&process));
    logOf(&process).mark("start");
}

void WorldRecorder::ends(Process& process) noexcept {
    process.ownLoop().remove(logOf(&process));
    logOf(&process).mark("end");
}

void WorldRecorder::injected(FaultKind kind, Process* process) noexcept {
    logOf(process).fault(faultName(kind));
}

void WorldRecorder::failed(void const* code, Error error) noexcept {
    logOf(world_.current()).failed(code, error);
}

void WorldRecorder::cancelled(void const* code) noexcept {
    logOf(world_.current()).cancelled(code);
}

void WorldRecorder::mark(char const* text) noexcept {
    logOf(world_.current()).mark(text);
}

std::string WorldRecorder::bytes() const {
    trace::PerfettoTrace trace;
    // nondeterminism: a trace says which process wrote it.
    std::uint64_t parent = trace.addProcess(trace::programName() + ", simulated", ::getpid());
    for (std::size_t number = 0; number < logs_.size(); ++number)
        if (logs_[number])
            logs_[number]->writeTo(
                trace, trace.addTrack(number == 0 ? "the world" : world_.processes()[number - 1]->name(), parent));
    return trace.bytes();
}

void WorldRecorder::writeTo(std::string const& path) const {
    trace::writeFile(path, bytes());
}

} // namespace flow
