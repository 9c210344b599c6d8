#pragma once
// TaskLog: the last things that happened on a loop, in a ring of fixed size. What the recorders are made of; programs
// use trace::Recorder (flow/trace/recorder.h).
//
//     TaskLog log(1 << 20);
//     loop.add(log);
//     ...
//     log.writeTo(trace, track);           // a PerfettoTrace
//
// A task costs one read of the counter of the processor and 32 bytes, what it wakes 32 bytes each. Belongs to the
// loop's thread.

#include "flow/base/error.h"
#include "flow/loop/loop.h"
#include "flow/loop/task_ring.h"
#include "flow/trace/perfetto.h"

namespace flow::trace {

class TaskLog final : public TaskRing {
public:
    /// At most so many bytes are kept, and at least room for 16 events. `ticks` outlives it. Throws std::bad_alloc.
    TaskLog(std::size_t bytes, Ticks& ticks);

    void failed(void const* code, Error error) noexcept { put(Kind::Failed, code, error.code()); }
    void cancelled(void const* code) noexcept { put(Kind::Cancelled, code, 0); }
    /// The texts live as long as this: literals.
    void mark(char const* text) noexcept { put(Kind::Mark, text, 0); }
    void fault(char const* text) noexcept { put(Kind::Fault, text, 0); }

    /// All that is kept, oldest first; a task that runs now ends now.
    void writeTo(PerfettoTrace& out, std::uint64_t track) const;

private:
    class Names;
    static void writeInstant(PerfettoTrace& out, std::uint64_t track, std::uint64_t time, Event const& event,
                             std::uint32_t flow, Names& names);
};

} // namespace flow::trace
