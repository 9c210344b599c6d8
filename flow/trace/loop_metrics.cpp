// The figures of a loop, and their formats for Prometheus and for JSON.
//
// LoopMetrics is a StepWatch. begins() and ended() enclose a step; a step may run a nested loop, so running_ is a
// stack. The end of a step also counts as the beginning of the next step (isFresh_), which saves one read of the clock
// per step; after a new turn or a sleep, the clock is read again. sleeps() and wakes() enclose idle time; all other
// time is busy time. A turn lasts from the first begins() to the last ended().
//
// A reader holds the mutex of the list of shared LoopMetrics, and a LoopMetrics leaves the list before it ends.
// runningSince_ is written last when a step begins, and first when it ends. So if a reader finds the same runningSince_
// before and after it reads the code, the code belongs to this step.

#include "flow/trace/loop_metrics.h"

#include "flow/base/assert.h"
#include "flow/base/format.h"
#include "flow/base/to_text.h"
#include "flow/diag/detail/symbol.h"
#include "flow/trace/detail/json.h"
#include "flow/wait/long_steps.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unistd.h>

namespace flow {

namespace {
constexpr double kLatencies[] = {0.0001, 0.001, 0.01, 0.1, 1, 10}; // seconds
}

struct LoopMetrics::Shared {
    std::mutex mutex;
    CycleClock clock; // for readers: the clock of a LoopMetrics belongs to its loop's thread
    std::vector<std::pair<LoopMetrics*, std::weak_ptr<LoopMetrics>>> list;
};

/// The list is never destroyed, since loops of other threads may end after static objects are destroyed.
LoopMetrics::Shared& LoopMetrics::allShared() {
    static auto* const made = new Shared;
    return *made;
}

LoopMetrics::LoopMetrics(Loop& loop, Seconds longStep)
    : loop_(loop), clock_(loop.isSimulated() ? &loop : nullptr), began_(clock_.now()),
      latencies_(std::size(kLatencies) + 1) {
    running_.reserve(16);
    clock_.measure();
    longTicks_ = clock_.ticksOf(longStep);
    for (double bound : kLatencies)
        latencyTicks_.push_back(clock_.ticksOf(bound));
    loop_.add(*this);
}

LoopMetrics::~LoopMetrics() {
    if (thread_ != 0) {
        std::lock_guard lock(allShared().mutex);
        std::erase_if(allShared().list, [this](auto const& each) { return each.first == this; });
    }
    loop_.remove(*this);
}

std::shared_ptr<LoopMetrics> LoopMetrics::shared(std::string name) {
    Loop& loop = Loop::current();
    FLOW_ASSERT(!loop.isSimulated(), "LoopMetrics::shared() on a simulated loop, into which no other thread may look");
    Shared& all = allShared();
    std::lock_guard lock(all.mutex);
    for (auto const& [metrics, owner] : all.list)
        if (&metrics->loop_ == &loop)
            if (auto found = owner.lock())
                return found;
    auto isTaken = [&](std::string const& wanted) {
        return std::ranges::any_of(all.list, [&](auto const& each) { return each.first->name_ == wanted; });
    };
    auto made = std::make_shared<LoopMetrics>(loop);
    made->name_ = name;
    for (int number = 2; isTaken(made->name_); ++number)
        made->name_ = name + ' ' + std::to_string(number);
    all.list.emplace_back(made.get(), made);
    made->thread_ = ::gettid(); // nondeterminism: no simulated loop is shared
    return made;
}

void LoopMetrics::forEachShared(std::function<void(LoopMetrics const&)> const& visit) {
    Shared& all = allShared();
    std::lock_guard lock(all.mutex);
    all.clock.measure();
    for (auto const& [metrics, owner] : all.list)
        visit(*metrics);
}

std::optional<RunningStep> LoopMetrics::running() const {
    std::uint64_t since = runningSince_.load(std::memory_order_acquire);
    void const* code = runningCode_.load(std::memory_order_acquire);
    if (since == 0 || runningSince_.load(std::memory_order_relaxed) != since)
        return std::nullopt;
    CycleClock& clock = allShared().clock;
    std::uint64_t now = clock.now(); // may be less than `since`, which was read on another processor
    return RunningStep{code, now > since ? clock.seconds(now - since) : 0, since};
}

void LoopMetrics::turnBegins() noexcept {
    turns_.add(1);
    isFresh_ = false;
    if (running_.empty())
        turnBegan_ = 0;
}

void LoopMetrics::turnEnds() noexcept {
    if (!running_.empty() || turnBegan_ == 0)
        return;
    std::uint64_t ticks = now_ - turnBegan_;
    std::size_t place = 0;
    while (place < latencyTicks_.size() && ticks > latencyTicks_[place])
        ++place;
    latencies_[place].add(1);
    latencySum_.add(ticks);
}

void LoopMetrics::begins(WaiterNode* step, TaskPriority) noexcept {
    steps_.add(1);
    if (!std::exchange(isFresh_, false))
        now_ = clock_.now();
    if (turnBegan_ == 0)
        turnBegan_ = now_;
    running_.push_back({codeOfStep(step), now_});
    runningCode_.store(running_.back().code, std::memory_order_relaxed);
    runningSince_.store(now_, std::memory_order_release);
}

void LoopMetrics::ended() noexcept {
    Running step = running_.back();
    running_.pop_back();
    runningSince_.store(0, std::memory_order_release);
    if (!running_.empty()) [[unlikely]] { // the step ran the loop inside another step
        runningCode_.store(running_.back().code, std::memory_order_relaxed);
        runningSince_.store(running_.back().since, std::memory_order_release);
    }
    now_ = clock_.now();
    isFresh_ = true;
    if (now_ - step.since < longTicks_) [[likely]]
        return;
    double seconds = clock_.seconds(now_ - step.since);
    Long& entry = long_[step.code];
    ++entry.count;
    entry.seconds += seconds;
    entry.longest = std::max(entry.longest, seconds);
    entry.latest = step.since;
    entry.latestSeconds = seconds;
}

std::optional<double> LoopMetrics::secondsOf(RunningStep const& step) const {
    auto place = long_.find(step.code);
    bool isKnown = place != long_.end() && place->second.latest == step.id;
    return isKnown ? std::optional(place->second.latestSeconds) : std::nullopt;
}

void LoopMetrics::answers(WaiterNode* waiter) noexcept {
    running_.back().code = codeOfStep(waiter);
    runningCode_.store(running_.back().code, std::memory_order_relaxed);
}

void LoopMetrics::sleeps() noexcept {
    sleeps_.add(1);
    asleepSince_.store(clock_.now());
}

void LoopMetrics::wakes() noexcept {
    if (asleepSince_.load() != 0) // 0: this object was added while another loop slept for this one
        idleTicks_.add(clock_.now() - asleepSince_.load());
    asleepSince_.store(0);
    isFresh_ = false;
}

LoopFigures LoopMetrics::counted(CycleClock& clock) const {
    LoopFigures all;
    std::uint64_t now = clock.now(), asleepSince = asleepSince_.load();
    all.seconds = clock.seconds(now - began_);
    all.idle = clock.seconds(idleTicks_.load() + (asleepSince != 0 && now > asleepSince ? now - asleepSince : 0));
    all.busy = std::max(0.0, all.seconds - all.idle);
    all.turns = turns_.load();
    all.steps = steps_.load();
    all.sleeps = sleeps_.load();
    all.bySteps = woken_[static_cast<int>(WokenBy::Step)].load();
    all.byTimers = woken_[static_cast<int>(WokenBy::Timer)].load();
    all.byPosts = woken_[static_cast<int>(WokenBy::Post)].load();
    all.byNews = woken_[static_cast<int>(WokenBy::News)].load();
    for (std::size_t i = 0; i < std::size(kLatencies); ++i) {
        all.latencyCount += latencies_[i].load();
        all.latencies.emplace_back(kLatencies[i], all.latencyCount);
    }
    all.latencyCount += latencies_.back().load();
    all.latencySeconds = clock.seconds(latencySum_.load());
    return all;
}

LoopFigures LoopMetrics::figuresFromOutside() const {
    LoopFigures all = counted(allShared().clock);
    all.isFromOutside = true;
    if (auto step = running())
        all.running = step->seconds;
    return all;
}

LoopFigures LoopMetrics::figures() const {
    clock_.measure();
    LoopFigures all = counted(clock_);
    loop_.forEachReady([&](WaiterNode*, TaskPriority priority) {
        int level = static_cast<int>(priority);
        if (all.ready.empty() || all.ready.back().first != level)
            all.ready.emplace_back(level, 0);
        ++all.ready.back().second;
    });
    loop_.forEachParked([&](WaiterNode* waiter) { all.timers += waiter->awaited.isTimer(); });
    all.blocks = memory::totalStatistics();
    all.memory = memory::usage();
    std::map<std::string, LoopFigures::LongSteps> byName; // the parts of an actor have different code addresses
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

namespace {

void appendLatencies(std::string& out, LoopFigures const& figures, std::string const& label) {
    std::string const name = "millrace_loop_latency_seconds";
    auto add = [&](char const* suffix, std::string const& labels, double value) {
        out += name + suffix + '{' + labels + "} " + toText(value) + '\n';
    };
    out += "# TYPE " + name + " histogram\n";
    for (auto const& [bound, count] : figures.latencies)
        add("_bucket", label + "," + prometheusLabel("le", format("%g", bound)), static_cast<double>(count));
    add("_bucket", label + "," + prometheusLabel("le", "+Inf"), static_cast<double>(figures.latencyCount));
    add("_sum", label, figures.latencySeconds);
    add("_count", label, static_cast<double>(figures.latencyCount));
}

} // namespace

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
    appendLatencies(out, figures, label);
    gauge("millrace_running_step_seconds", figures.running);
    if (figures.isFromOutside)
        return out;
    for (auto const& [priority, count] : figures.ready)
        gauge("millrace_ready", number(count), prometheusLabel("priority", std::to_string(priority)));
    gauge("millrace_timers", number(figures.timers));
    counter("millrace_blocks_allocated_total", number(figures.blocks.allocated));
    counter("millrace_blocks_freed_total", number(figures.blocks.freed));
    gauge("millrace_memory_bytes", number(figures.memory.held), prometheusLabel("kind", "held"));
    gauge("millrace_memory_bytes", static_cast<double>(figures.memory.live), prometheusLabel("kind", "live"));
    for (auto const& each : figures.longSteps)
        counter("millrace_long_steps_total", number(each.count), prometheusLabel("actor", each.actor));
    for (auto const& each : figures.longSteps)
        counter("millrace_long_step_seconds_total", each.seconds, prometheusLabel("actor", each.actor));
    return out;
}

std::string mergePrometheus(std::vector<std::string> const& pages) {
    struct Family {
        std::string head, lines;
    };
    std::map<std::string, Family, std::less<>> families;
    for (std::string_view page : pages) {
        Family* family = nullptr;
        bool isNew = false;
        while (!page.empty()) {
            std::string_view line = page.substr(0, page.find('\n') + 1);
            if (line.empty()) // the last line has no end
                line = page;
            page.remove_prefix(line.size());
            if (line.starts_with("# ")) { // "# HELP NAME ..." or "# TYPE NAME ..."
                std::string_view name = line.substr(7, line.find_first_of(" \n", 7) - 7);
                auto [place, made] = families.try_emplace(std::string(name));
                isNew = made || (isNew && family == &place->second);
                family = &place->second;
                if (isNew)
                    family->head += line;
            } else if (family) {
                family->lines += line;
            }
        }
    }
    std::string out;
    for (auto const& [name, family] : families)
        out += family.head + family.lines;
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
    add("running", figures.running);
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
