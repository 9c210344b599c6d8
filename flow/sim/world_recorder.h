#pragma once
// WorldRecorder: records the events of a simulated world, for ui.perfetto.dev.
//
//     World world(seed, Faults::swarm(seed));
//     WorldRecorder recorder(world);               // before the processes start
//     ...
//     recorder.writeTo("run.pftrace");
//
// Each process has one track for all its lives, and the world's own code has another. A track shows the events of
// trace::Recorder (flow/trace/recorder.h), and the faults that were injected while its process ran. The time is the
// world's, but each step takes a nanosecond, so that steps at the same time stand side by side. The run and its digest
// are the same with and without the recorder. The world must outlive the recorder.

#include "flow/sim/world.h"
#include "flow/trace/recorder.h"

namespace flow {

class WorldRecorder final : WorldWatch, EndingWatch, trace::MarkTarget {
public:
    /// Keeps the last `bytesOfProcess` bytes of events of each process. Throws std::bad_alloc.
    explicit WorldRecorder(World& world, std::size_t bytesOfProcess = std::size_t{1} << 20);
    WorldRecorder(WorldRecorder const&) = delete;
    WorldRecorder& operator=(WorldRecorder const&) = delete;
    ~WorldRecorder();

    std::string bytes() const;
    /// Writes the trace so far to a file. Throws io_error if the file cannot be written.
    void writeTo(std::string const& path) const;

private:
    trace::StepLog& logOf(Process* process);
    void began(Process& process) noexcept override;
    void ends(Process& process) noexcept override;
    void injected(FaultKind kind, Process* process) noexcept override;
    void failed(void const* code, Error error) noexcept override;
    void cancelled(void const* code) noexcept override;
    void mark(char const* text) noexcept override;

    World& world_;
    std::size_t bytesOfProcess_;
    CycleClock clock_;
    std::vector<std::unique_ptr<trace::StepLog>> logs_; // by the id of the process; 0 is the world itself
};

} // namespace flow
