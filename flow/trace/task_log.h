#pragma once
// TaskLog: the last things that happened on a loop, in a ring of fixed size. What the recorders are made of; programs
// use trace::Recorder (flow/trace/recorder.h).
//
//     TaskLog log(1 << 20);
//     loop.add(log);
//     ...
//     log.writeTo(trace, track);           // a PerfettoTrace
//
// A task costs two calls, one read of the counter of the processor and 32 bytes written. Belongs to the loop's thread.

#include "flow/base/error.h"
#include "flow/loop/loop.h"
#include "flow/loop/task_watch.h"
#include "flow/trace/perfetto.h"
#include "flow/trace/ready_order.h"

namespace flow::trace {

/// Counts up fast: the processor's counter where it runs at one rate, else the machine's clock; under simulation the
/// time of the loop, in which each thing that happens takes a nanosecond.
class Ticks {
public:
    /// `simulated`: the loop with the time that counts; null: the machine's.
    explicit Ticks(Loop* simulated = nullptr);

    std::uint64_t now() noexcept;
    /// In nanoseconds of CLOCK_MONOTONIC, or of the simulated time.
    std::uint64_t nanoseconds(std::uint64_t ticks) const noexcept;
    /// To be called before these: how long a tick is. Takes a millisecond if this was made just now.
    void measure() noexcept;
    double seconds(std::uint64_t ticks) const noexcept { return static_cast<double>(ticks) * rate_ * 1e-9; }
    std::uint64_t ticksOf(double seconds) const noexcept { return static_cast<std::uint64_t>(seconds * 1e9 / rate_); }

private:
    Loop* simulated_;
    bool isCounter_ = false;
    std::uint64_t last_ = 0;   // of the simulated time
    std::uint64_t ticks0_ = 0; // at the same moment as nanoseconds0_
    std::uint64_t nanoseconds0_ = 0;
    double rate_ = 1; // nanoseconds a tick
};

class TaskLog final : public TaskWatch {
public:
    /// At most so many bytes are kept, and at least room for 16 events. `ticks` outlives it. Throws std::bad_alloc.
    TaskLog(std::size_t bytes, Ticks& ticks);

    void failed(void const* code, Error error) noexcept { put(Kind::Failed, code, error.code()); }
    void cancelled(void const* code) noexcept { put(Kind::Cancelled, code, 0); }
    /// The texts live as long as this: literals.
    void mark(char const* text) noexcept { put(Kind::Mark, text, 0); }
    void fault(char const* text) noexcept { put(Kind::Fault, text, 0); }

    /// What was ready will not run: its loop was destroyed.
    void forgetReady() noexcept { ready_.clear(); }

    /// All that is kept, oldest first; a task that runs now ends now.
    void writeTo(PerfettoTrace& out, std::uint64_t track) const;
    /// What has been put in, with what is not kept any more.
    std::uint64_t count() const { return count_; }

    void woken(WaiterNode* waiter, TaskPriority priority, WokenBy by) noexcept override;
    void begins(WaiterNode* task, TaskPriority priority) noexcept override;
    void ended() noexcept override;
    void turnBegins() noexcept override { isFresh_ = false; }

private:
    enum class Kind : std::uint8_t { Task, Woken, Failed, Cancelled, Mark, Fault };
    struct Event {
        std::uint64_t time;
        std::uint64_t end;   // of a task
        void const* what;    // code, or a text
        std::uint32_t flow;  // of a task, that which ends; of what is woken, that which begins
        std::uint16_t value; // priority, cause or code of the error
        Kind kind;
        std::uint8_t depth; // tasks that were running
    };
    static_assert(sizeof(Event) == 32);

    std::uint64_t freshTime() noexcept;
    void put(Kind kind, void const* what, int value) noexcept;
    void put(Event const& event) noexcept { events_[count_++ & (events_.size() - 1)] = event; }
    std::vector<Event> inOrder() const;
    class Names;
    static void writeInstant(PerfettoTrace& out, std::uint64_t track, std::uint64_t time, Event const& event,
                             Names& names);

    Ticks& ticks_;
    std::vector<Event> events_; // a power of two
    std::uint64_t count_ = 0;
    std::uint64_t time_ = 0;
    bool isFresh_ = false; // nothing has run since time_
    std::uint32_t flows_ = 0;
    ReadyOrder<std::uint32_t> ready_;
    std::vector<Event> running_;
};

} // namespace flow::trace
