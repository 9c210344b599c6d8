#pragma once
// trace::Recorder: records the work of a loop, for ui.perfetto.dev.
//
//     trace::Recorder recorder(loop);                 // records from the loop's next turn on, and keeps the last 1 MiB
//     ...
//     recorder.writeTo("server.pftrace");             // at any time, also by a step
//
// The trace has one track. Each step is an interval with the name of the actor that the step resumes first. An arrow
// leads to the step from the cause that made it ready: another step, a timer, a post, or the poller. Marks show errors
// that end computations, cancels, and calls of trace::mark("text of the program").
//
// The memory is a ring: the newest events replace the oldest. While a Recorder exists, a step costs a read of the
// processor's counter and the writes into the ring. To have several loops in one file, write the bytes() of their
// recorders. A Recorder belongs to the loop's thread and must end before the loop; a loop may have several. Under
// simulation, each event takes a nanosecond of the loop's time; for a World, see flow/sim/world_recorder.h.

#include "flow/core/detail/ending_watch.h"
#include "flow/trace/detail/step_log.h"
#include "flow/trace/mark.h"

namespace flow::trace {

struct RecorderOptions {
    std::string name = "loop"; // the name of the track
    std::size_t bytes = std::size_t{1} << 20;
};

class Recorder final : EndingWatch, MarkTarget {
public:
    /// Throws std::bad_alloc.
    explicit Recorder(Loop& recorded, RecorderOptions options = {});
    Recorder(Recorder const&) = delete;
    Recorder& operator=(Recorder const&) = delete;
    ~Recorder();

    std::string bytes() const;
    /// Writes the trace so far to a file. Throws io_error if the file cannot be written.
    void writeTo(std::string const& path) const;

private:
    void failed(void const* code, Error error) noexcept override;
    void cancelled(void const* code) noexcept override;
    void mark(char const* text) noexcept override;

    Loop& loop_;
    std::string name_;
    CycleClock clock_;
    StepLog log_;
};

/// Returns the name of this program.
std::string programName();
/// Writes a file. Throws io_error if it cannot be written; its text names the call, the path and the reason.
void writeFile(std::string const& path, std::string const& bytes);

} // namespace flow::trace
