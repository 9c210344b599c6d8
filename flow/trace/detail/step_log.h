#pragma once
// StepLog: the last events of a loop, in a ring of fixed size. Programs use trace::Recorder (flow/trace/recorder.h).
//
//     StepLog log(1 << 20);
//     loop.add(log);
//     ...
//     log.writeTo(trace, track);           // a PerfettoTrace
//
// A step costs a read of the processor's counter and 32 bytes, and 32 bytes per woken waiter. Not thread-safe.

#include "flow/base/error.h"
#include "flow/loop/detail/step_ring.h"
#include "flow/loop/loop.h"
#include "flow/trace/perfetto.h"

namespace flow::trace {

class StepLog final : public StepRing {
public:
    /// Keeps at most `bytes`, but at least 16 events. `clock` must outlive the log. Throws std::bad_alloc.
    StepLog(std::size_t bytes, CycleClock& clock);

    void failed(void const* code, Error error) noexcept { put(Kind::Failed, code, error.code()); }
    void cancelled(void const* code) noexcept { put(Kind::Cancelled, code, 0); }
    /// The texts of mark() and fault() must live as long as the log, as string literals do.
    void mark(char const* text) noexcept { put(Kind::Mark, text, 0); }
    void fault(char const* text) noexcept { put(Kind::Fault, text, 0); }

    /// Writes all events in the ring, oldest first. A step that is still running ends, in the trace, at this moment.
    void writeTo(PerfettoTrace& out, std::uint64_t track) const;

private:
    class Names;
    static void writeInstant(PerfettoTrace& out, std::uint64_t track, std::uint64_t time, Event const& event,
                             std::uint32_t flow, Names& names);
};

} // namespace flow::trace
