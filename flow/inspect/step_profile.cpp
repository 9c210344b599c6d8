#include "flow/inspect/detail/step_profile.h"

#include "flow/base/format.h"
#include "flow/diag/detail/symbol.h"
#include "flow/inspect/detail/frames.h"
#include "flow/trace/detail/json.h"
#include "flow/wait/detail/choose.h"
#include "flow/wait/source.h"

#include <algorithm>
#include <bit>

namespace flow {
using namespace detail;
namespace {

constexpr std::size_t kMostReady = std::size_t{1} << 16; // per priority; the delays of further waiters are not measured
constexpr std::size_t kLongestChain = 24;

void const* codeOf(Waiter const* frame) {
    return reinterpret_cast<void const*>(frame->resume);
}

/// Returns the frame that resumes with `waiter`, or `waiter` itself.
Waiter const* frameBehind(Waiter const* waiter) {
    for (int i = 0; i < 2; ++i)
        if (Waiter const* frame = ChooseBase::frameOf(waiter))
            waiter = frame;
        else if (Waiter const* first = SourceBase::firstOf(waiter))
            waiter = first;
    return waiter;
}

/// Finds the actor that a step resumes, and its chain of awaiters. If there are several, follows the oldest.
void findChain(Waiter const* step, std::vector<void const*>& chain) {
    chain.clear();
    Waiter const* frame = frameBehind(step);
    chain.push_back(codeOf(frame));
    while (chain.size() < kLongestChain && inspect::isFrame(frame)) {
        Cell const* cell = Cell::of(const_cast<Waiter*>(frame));
        if (cell->waiters.isEmpty())
            return;
        frame = frameBehind(Waiter::of(cell->waiters.prev));
        if (inspect::isFrame(frame)) // otherwise `frame` is a callback, or the waiter of Loop::run()
            chain.push_back(codeOf(frame));
    }
}

} // namespace

StepProfile::StepProfile(Loop& loop, bool countsAllocations)
    : loop_(loop), clock_(loop.isSimulated() ? &loop : nullptr), began_(clock_.now()), ready_(kMostReady) {
    clock_.measure(); // so that begins() can convert ticks to seconds
    loop_.add(*this);
    if (countsAllocations)
        allocations_.emplace(*this);
}

StepProfile::~StepProfile() {
    loop_.remove(*this);
}

void StepProfile::woken(WaiterNode* waiter, TaskPriority priority, WokenBy) noexcept {
    ready_.push(waiter, priority, clock_.now());
}

StepProfile::Spent& StepProfile::chainOf(WaiterNode const* step) {
    findChain(step, chain_);
    auto place = chains_.find(chain_);
    if (place == chains_.end())
        place = chains_.emplace(chain_, Spent()).first;
    return place->second;
}

void StepProfile::begins(WaiterNode* step, TaskPriority priority) noexcept {
    Spent& spent = chainOf(step);
    ++spent.steps;
    std::uint64_t now = clock_.now();
    if (auto since = ready_.take(step, priority)) {
        double seconds = clock_.seconds(now - *since);
        Delay& delay = delays_[priority];
        ++delay.steps;
        delay.seconds += seconds;
        delay.longest = std::max(delay.longest, seconds);
        auto power = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(seconds * 1e6)));
        ++delay.below[std::min(power, delay.below.size() - 1)];
    }
    running_.push_back({&spent, now});
}

// The step began with a waiter of the library, which brings the answer: now the step counts for the actor that gets it.
void StepProfile::answers(WaiterNode* waiter) noexcept {
    Spent& spent = chainOf(waiter);
    --running_.back().spent->steps;
    ++spent.steps;
    running_.back().spent = &spent;
}

void StepProfile::ended() noexcept {
    Running step = running_.back();
    running_.pop_back();
    std::uint64_t ticks = clock_.now() - step.since;
    step.spent->ticks += ticks - std::min(ticks, step.nested);
    if (!running_.empty())
        running_.back().nested += ticks;
}

std::string StepProfile::json() const {
    clock_.measure();
    // nondeterminism: no code iterates over this map.
    std::map<void const*, std::string> names;
    auto nameOf = [&](void const* code) -> std::string const& {
        std::string& name = names[code];
        if (name.empty()) {
            char text[160];
            actorNameAt(code, text, sizeof text);
            name = text;
        }
        return name;
    };
    auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::string out = format("{\"seconds\":%.9g,\"countsAllocations\":%s,\"chains\":[",
                             clock_.seconds(clock_.now() - began_), allocations_ ? "true" : "false");
    char const* comma = "";
    auto add = [&](Codes const& chain, Spent const& spent) {
        out += comma;
        out += "\n{\"frames\":[";
        for (auto code = chain.rbegin(); code != chain.rend(); ++code) {
            if (code != chain.rbegin())
                out += ',';
            appendJsonString(out, nameOf(*code));
        }
        out += format("],\"steps\":%llu,\"seconds\":%.9g,\"allocations\":%llu}", number(spent.steps),
                      clock_.seconds(spent.ticks), number(spent.allocations));
        comma = ",";
    };
    for (auto const& [chain, spent] : chains_)
        if (spent.steps != 0 || spent.allocations != 0) // otherwise all of its steps brought answers
            add(chain, spent);
    if (outside_.allocations)
        add({}, outside_);
    out += "],\"delays\":[";
    comma = "";
    for (auto const& [priority, delay] : delays_) {
        out += format("%s\n{\"priority\":%d,\"steps\":%llu,\"seconds\":%.9g,\"longest\":%.9g,\"below\":[", comma,
                      static_cast<int>(priority), number(delay.steps), delay.seconds, delay.longest);
        for (std::size_t i = 0; i < delay.below.size(); ++i)
            out += format("%s%llu", i == 0 ? "" : ",", number(delay.below[i]));
        out += "]}";
        comma = ",";
    }
    return out + "]}\n";
}

} // namespace flow
