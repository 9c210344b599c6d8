#include "flow/trace/task_log.h"

#include "flow/diag/symbol.h"
#include "flow/wait/long_tasks.h"

#include <algorithm>
#include <bit>
#include <ctime>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace flow::trace {
namespace {

bool hasSteadyCounter() noexcept {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
#else
    return false;
#endif
}

std::uint64_t counter() noexcept {
#if defined(__x86_64__)
    return __rdtsc(); // nondeterminism: never for a simulated loop
#else
    return 0;
#endif
}

std::uint64_t clockNanoseconds() noexcept {
    timespec time;
    ::clock_gettime(CLOCK_MONOTONIC, &time); // nondeterminism: never for a simulated loop
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

char const* nameOf(WokenBy by) {
    switch (by) {
    case WokenBy::Timer:
        return "timer";
    case WokenBy::Post:
        return "post";
    case WokenBy::News:
        return "news";
    default:
        return "wakes";
    }
}

} // namespace

/// By the address of code: looking a name up reads the program's file.
class TaskLog::Names {
public:
    std::string const& of(void const* code) {
        auto [place, isNew] = known_.try_emplace(code);
        if (isNew) {
            char name[160];
            actorNameAt(code, name, sizeof name);
            place->second = name;
        }
        return place->second;
    }

private:
    // nondeterminism: it is never iterated over.
    std::unordered_map<void const*, std::string> known_;
};

Ticks::Ticks(Loop* simulated) : simulated_(simulated) {
    if (simulated_)
        return;
    isCounter_ = hasSteadyCounter();
    nanoseconds0_ = clockNanoseconds();
    ticks0_ = now();
}

std::uint64_t Ticks::now() noexcept {
    if (isCounter_) [[likely]]
        return counter();
    if (!simulated_)
        return clockNanoseconds();
    return last_ = std::max(last_ + 1, static_cast<std::uint64_t>(simulated_->timer() * 1e9));
}

void Ticks::measure() noexcept {
    if (!isCounter_)
        return;
    constexpr std::uint64_t kEnough = 1'000'000; // nanoseconds: the rate is right to a few parts in ten thousand
    std::uint64_t passed, ticks;
    do {
        passed = clockNanoseconds() - nanoseconds0_;
        ticks = counter() - ticks0_;
    } while (passed < kEnough);
    rate_ = static_cast<double>(passed) / static_cast<double>(ticks);
}

std::uint64_t Ticks::nanoseconds(std::uint64_t ticks) const noexcept {
    if (!isCounter_)
        return ticks;
    auto since = static_cast<double>(static_cast<std::int64_t>(ticks - ticks0_));
    return nanoseconds0_ + static_cast<std::uint64_t>(static_cast<std::int64_t>(since * rate_));
}

TaskLog::TaskLog(std::size_t bytes, Ticks& ticks)
    : ticks_(ticks), events_(std::bit_floor(std::max<std::size_t>(bytes / sizeof(Event), 16))), ready_(events_.size()) {
    running_.reserve(16);
}

std::uint64_t TaskLog::freshTime() noexcept {
    if (!std::exchange(isFresh_, true))
        time_ = ticks_.now();
    return time_;
}

void TaskLog::put(Kind kind, void const* what, int value) noexcept {
    put(Event{ticks_.now(), 0, what, 0, static_cast<std::uint16_t>(value), kind,
              static_cast<std::uint8_t>(running_.size())});
}

void TaskLog::woken(WaiterNode* waiter, TaskPriority priority, WokenBy by) noexcept {
    std::uint32_t flow = flows_ + 1;
    if (!ready_.push(waiter, priority, flow))
        return;
    flows_ = flow;
    put(Event{freshTime(), 0, nullptr, flow, static_cast<std::uint16_t>(by), Kind::Woken,
              static_cast<std::uint8_t>(running_.size())});
}

void TaskLog::begins(WaiterNode* task, TaskPriority priority) noexcept {
    std::uint32_t flow = ready_.take(task, priority).value_or(0);
    running_.push_back({freshTime(), 0, codeOfTask(task), flow, static_cast<std::uint16_t>(priority), Kind::Task,
                        static_cast<std::uint8_t>(running_.size())});
    isFresh_ = false;
}

void TaskLog::ended() noexcept {
    Event& task = running_.back();
    task.end = time_ = ticks_.now();
    isFresh_ = true;
    put(task);
    running_.pop_back();
}

std::vector<TaskLog::Event> TaskLog::inOrder() const {
    std::vector<Event> all;
    std::uint64_t first = count_ > events_.size() ? count_ - events_.size() : 0;
    for (std::uint64_t i = first; i < count_; ++i)
        all.push_back(events_[i & (events_.size() - 1)]);
    for (Event task : running_) {
        task.end = ticks_.now();
        all.push_back(task);
    }
    return all;
}

void TaskLog::writeTo(PerfettoTrace& out, std::uint64_t track) const {
    ticks_.measure();
    struct Item {
        Event event;
        std::vector<std::uint32_t> starts; // flows of what a task has woken
    };
    std::vector<Item> items;
    for (Event const& event : inOrder())
        if (event.kind == Kind::Woken && !items.empty() && items.back().event.kind == Kind::Task &&
            items.back().event.end == event.time)
            items.back().starts.push_back(event.flow);
        else
            items.push_back({event, {}});
    // A task is put in when it ends, behind what happened in it.
    std::vector<Item const*> sorted;
    for (Item const& item : items)
        sorted.push_back(&item);
    std::sort(sorted.begin(), sorted.end(), [](Item const* a, Item const* b) {
        if (a->event.time != b->event.time)
            return a->event.time < b->event.time;
        return a->event.depth != b->event.depth ? a->event.depth < b->event.depth : a < b;
    });
    Names names;
    std::vector<Event const*> open;
    auto close = [&] {
        out.end(track, ticks_.nanoseconds(open.back()->end));
        open.pop_back();
    };
    for (Item const* item : sorted) {
        Event const& event = item->event;
        while (!open.empty() &&
               (open.back()->end < event.time || (open.back()->end == event.time && open.back()->depth >= event.depth)))
            close();
        std::uint64_t time = ticks_.nanoseconds(event.time);
        if (event.kind == Kind::Task) {
            out.begin(track, time, names.of(event.what),
                      {.starts = item->starts, .ends = event.flow, .key = "priority", .number = event.value});
            open.push_back(&event);
        } else {
            writeInstant(out, track, time, event, names);
        }
    }
    while (!open.empty())
        close();
}

void TaskLog::writeInstant(PerfettoTrace& out, std::uint64_t track, std::uint64_t time, Event const& event,
                           Names& names) {
    auto* text = static_cast<char const*>(event.what);
    switch (event.kind) {
    case Kind::Task:
        break;
    case Kind::Woken:
        return out.instant(track, time, nameOf(static_cast<WokenBy>(event.value)),
                           {.starts = {event.flow}, .category = "wake"});
    case Kind::Failed:
        return out.instant(track, time, std::string("error ") + Error(event.value).name() + " in " + names.of(text),
                           {.category = "error", .key = "code", .number = event.value});
    case Kind::Cancelled:
        return out.instant(track, time, "cancel " + names.of(text), {.category = "cancel"});
    case Kind::Mark:
        return out.instant(track, time, text, {.category = "mark"});
    case Kind::Fault:
        return out.instant(track, time, text, {.category = "fault"});
    }
}

} // namespace flow::trace
