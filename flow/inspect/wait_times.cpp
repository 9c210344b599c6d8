#include "flow/inspect/wait_times.h"

#include "flow/loop/real_loop.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string_view>

namespace flow {
using namespace inspect;

WaitTimes::WaitTimes(Loop& loop, Seconds period) : loop_(loop), period_(period), ended_(loop.timer()), looked_(ended_) {
    FLOW_ASSERT(!loop.service<WaitTimes>(), "the loop has WaitTimes already");
    loop.provide<WaitTimes>(this);
    loop.add(*this);
}

WaitTimes::~WaitTimes() {
    loop_.remove(*this);
    loop_.provide<WaitTimes>(nullptr);
}

void WaitTimes::turnBegins() noexcept {
    constexpr double kShare = 50; // the scans take at most 2 % of the time
    double now = loop_.timer();
    if (now < next_)
        return;
    try {
        look();
    } catch (...) { // no memory for the scan: keeps the result of the last scan
    }
    double end = loop_.timer();
    next_ = end + std::max(period_, kShare * (end - now));
}

/// Scans the computations. The old and the new list are sorted by address.
void WaitTimes::look() {
    Frames frames = Frames::ofThread();
    std::vector<Entry> entries;
    entries.reserve(frames.size());
    auto before = entries_.begin();
    for (Frame const& frame : frames) {
        while (before != entries_.end() && before->frame < frame.waiter)
            ++before;
        std::uint64_t wait = waitOf(frame);
        bool isSame = before != entries_.end() && before->frame == frame.waiter && before->wait == wait;
        entries.push_back({frame.waiter, wait, isSame ? before->since : ended_});
    }
    entries_ = std::move(entries);
    looked_ = ended_;
}

WaitTimes::Time WaitTimes::of(Frame const& frame) {
    auto found = std::lower_bound(entries_.begin(), entries_.end(), frame.waiter,
                                  [](Entry const& entry, Waiter const* wanted) { return entry.frame < wanted; });
    bool isKnown = found != entries_.end() && found->frame == frame.waiter && found->wait == waitOf(frame);
    return {loop_.timer() - (isKnown ? found->since : looked_), isKnown};
}

std::uint64_t WaitTimes::waitOf(Frame const& frame) {
    std::uint64_t hash = 0;
    auto mix = [&](std::uint64_t word) {
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    };
    mix(reinterpret_cast<std::uintptr_t>(frame.waiter->resume));
    mix(codes_.suspensionOf(frame.waiter));
    forEachParked(frame.waiter, [&](Waiter const* waiter) {
        mix(std::bit_cast<std::uintptr_t>(waiter->awaited));
        if (waiter->awaited.isTimer())
            mix(std::bit_cast<std::uint64_t>(waiter->awaited.timer()->deadline));
    });
    if (isTask(frame.waiter))
        forEachChild(frame.waiter, Children::Awaited,
                     [&](Waiter* child) { mix(reinterpret_cast<std::uintptr_t>(child)); });
    return hash;
}

void detail::timeWaitsIfAsked(RealLoop& loop) {
    struct Timed : LoopOwned {
        explicit Timed(Loop& loop) : times(loop) {
            end = [](LoopOwned* owned) { delete static_cast<Timed*>(owned); };
        }
        WaitTimes times;
    };
    if (char const* variable = std::getenv("MILLRACE_WAIT_TIMES"); variable && std::string_view(variable) == "1")
        loop.add(*new Timed(loop));
}

} // namespace flow
