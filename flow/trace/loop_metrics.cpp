// The figures of a loop, and their formats for Prometheus and for JSON.
//
// LoopMetrics is a StepWatch: the loop calls its functions at each event. begins() and ended() enclose a step; a step
// may run a nested loop, so running_ is a stack. The end of a step is taken as the beginning of the next step
// (isFresh_), which saves one read of the clock per step; after a new turn or a sleep, the clock is read again.
// sleeps() and wakes() enclose idle time; all other time is busy time.

#include "flow/trace/loop_metrics.h"

#include "flow/base/format.h"
#include "flow/diag/detail/symbol.h"
#include "flow/trace/detail/json.h"
#include "flow/wait/long_steps.h"

#include <algorithm>
#include <map>

namespace flow {

LoopMetrics::LoopMetrics(Loop& loop, Seconds longStep)
    : loop_(loop), clock_(loop.isSimulated() ? &loop : nullptr), began_(clock_.now()) {
    running_.reserve(16);
    clock_.measure();
    longTicks_ = clock_.ticksOf(longStep);
    loop_.add(*this);
}

LoopMetrics::~LoopMetrics() {
    loop_.remove(*this);
}

void LoopMetrics::turnBegins() noexcept {
    ++turns_;
    isFresh_ = false;
}

void LoopMetrics::begins(WaiterNode* step, TaskPriority) noexcept {
    ++steps_;
    if (!std::exchange(isFresh_, false))
        now_ = clock_.now();
    running_.push_back({codeOfStep(step), now_});
}

void LoopMetrics::ended() noexcept {
    Running step = running_.back();
    running_.pop_back();
    now_ = clock_.now();
    isFresh_ = true;
    if (now_ - step.since < longTicks_) [[likely]]
        return;
    double seconds = clock_.seconds(now_ - step.since);
    Long& entry = long_[step.code];
    ++entry.count;
    entry.seconds += seconds;
    entry.longest = std::max(entry.longest, seconds);
}

void LoopMetrics::sleeps() noexcept {
    ++sleeps_;
    asleepSince_ = clock_.now();
}

void LoopMetrics::wakes() noexcept {
    idleTicks_ += clock_.now() - std::exchange(asleepSince_, 0);
    isFresh_ = false;
}

LoopFigures LoopMetrics::figures() const {
    clock_.measure();
    LoopFigures all;
    all.seconds = clock_.seconds(clock_.now() - began_);
    all.idle = clock_.seconds(idleTicks_);
    all.busy = std::max(0.0, all.seconds - all.idle);
    all.turns = turns_;
    all.steps = steps_;
    all.sleeps = sleeps_;
    all.bySteps = woken_[static_cast<int>(WokenBy::Step)];
    all.byTimers = woken_[static_cast<int>(WokenBy::Timer)];
    all.byPosts = woken_[static_cast<int>(WokenBy::Post)];
    all.byNews = woken_[static_cast<int>(WokenBy::News)];
    loop_.forEachReady([&](WaiterNode*, TaskPriority priority) {
        int level = static_cast<int>(priority);
        if (all.ready.empty() || all.ready.back().first != level)
            all.ready.emplace_back(level, 0);
        ++all.ready.back().second;
    });
    loop_.forEachParked([&](WaiterNode* waiter) { all.timers += waiter->awaited.isTimer(); });
    all.blocks = memory::totalStatistics();
    all.memory = memory::usage();
    std::map<std::string, LoopFigures::LongSteps> byName; // the parts of an actor have different codes
    for (auto const& [code, entry] : long_) {
        char name[160];
        actorNameAt(code, name, sizeof name);
        auto& sum = byName[name];
        sum = {name, sum.count + entry.count, sum.seconds + entry.seconds, std::max(sum.longest, entry.longest)};
    }
    for (auto& [name, entry] : byName)
        all.longSteps.push_back(std::move(entry));
    std::sort(all.longSteps.begin(), all.longSteps.end(), [](auto const& a, auto const& b) {
        return a.seconds != b.seconds ? a.seconds > b.seconds : a.actor < b.actor;
    });
    constexpr std::size_t kMost = 32;
    all.longSteps.resize(std::min(all.longSteps.size(), kMost));
    return all;
}

void appendPrometheus(std::string& out, std::string_view name, std::string_view type, std::string_view labels,
                      double value) {
    std::string head = "# TYPE " + std::string(name) + " " + std::string(type) + "\n";
    if (out.find(head) == std::string::npos)
        out += head;
    out += name;
    out += '{';
    out += labels;
    out += "} " + toText(value) + "\n";
}

std::string prometheusLabel(std::string_view key, std::string_view value) {
    std::string out(key);
    out += "=\"";
    for (char letter : value)
        if (letter == '\n')
            out += "\\n";
        else if (letter == '"' || letter == '\\')
            (out += '\\') += letter;
        else
            out += letter;
    return out + '"';
}

std::string prometheusText(LoopFigures const& figures, std::string_view loop) {
    std::string out;
    std::string label = prometheusLabel("loop", loop);
    auto counter = [&](char const* name, double value, std::string const& more = {}) {
        appendPrometheus(out, name, "counter", more.empty() ? label : label + "," + more, value);
    };
    auto gauge = [&](char const* name, double value, std::string const& more = {}) {
        appendPrometheus(out, name, "gauge", more.empty() ? label : label + "," + more, value);
    };
    auto number = [](std::uint64_t value) { return static_cast<double>(value); };
    counter("millrace_seconds_total", figures.busy, prometheusLabel("state", "busy"));
    counter("millrace_seconds_total", figures.idle, prometheusLabel("state", "idle"));
    counter("millrace_turns_total", number(figures.turns));
    counter("millrace_steps_total", number(figures.steps));
    counter("millrace_sleeps_total", number(figures.sleeps));
    counter("millrace_woken_total", number(figures.bySteps), prometheusLabel("by", "step"));
    counter("millrace_woken_total", number(figures.byTimers), prometheusLabel("by", "timer"));
    counter("millrace_woken_total", number(figures.byPosts), prometheusLabel("by", "post"));
    counter("millrace_woken_total", number(figures.byNews), prometheusLabel("by", "news"));
    for (auto const& [priority, count] : figures.ready)
        gauge("millrace_ready", number(count), prometheusLabel("priority", std::to_string(priority)));
    gauge("millrace_timers", number(figures.timers));
    counter("millrace_blocks_allocated_total", number(figures.blocks.allocated));
    counter("millrace_blocks_freed_total", number(figures.blocks.freed));
    gauge("millrace_memory_bytes", number(figures.memory.held), prometheusLabel("kind", "held"));
    gauge("millrace_memory_bytes", static_cast<double>(figures.memory.live), prometheusLabel("kind", "live"));
    for (auto const& each : figures.longSteps) {
        counter("millrace_long_steps_total", number(each.count), prometheusLabel("actor", each.actor));
        counter("millrace_long_step_seconds_total", each.seconds, prometheusLabel("actor", each.actor));
    }
    return out;
}

std::string jsonText(LoopFigures const& figures, std::string_view loop) {
    std::string out = "{";
    auto add = [&](std::string_view key, auto const& value) {
        if (out.back() != '{')
            out += ',';
        appendJsonString(out, key);
        out += ':';
        appendJsonValue(out, value);
    };
    add("loop", std::string(loop));
    add("seconds", figures.seconds);
    add("busy", figures.busy);
    add("idle", figures.idle);
    add("turns", figures.turns);
    add("steps", figures.steps);
    add("sleeps", figures.sleeps);
    add("bySteps", figures.bySteps);
    add("byTimers", figures.byTimers);
    add("byPosts", figures.byPosts);
    add("byNews", figures.byNews);
    add("timers", figures.timers);
    add("blocksAllocated", figures.blocks.allocated);
    add("blocksFreed", figures.blocks.freed);
    add("bytesHeld", figures.memory.held);
    add("bytesLive", figures.memory.live);
    out += ",\"ready\":[";
    char const* comma = "";
    for (auto const& [priority, count] : figures.ready) {
        out += format("%s[%d,%llu]", comma, priority, static_cast<unsigned long long>(count));
        comma = ",";
    }
    out += "],\"longSteps\":[";
    comma = "";
    for (auto const& each : figures.longSteps) {
        out += comma;
        out += "{\"actor\":";
        appendJsonString(out, each.actor);
        out += format(",\"count\":%llu,\"seconds\":%.9g,\"longest\":%.9g}", static_cast<unsigned long long>(each.count),
                      each.seconds, each.longest);
        comma = ",";
    }
    return out + "]}";
}

} // namespace flow
