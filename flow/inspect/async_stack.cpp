#include "flow/inspect/async_stack.h"

#include "flow/base/error.h"
#include "flow/base/format.h"
#include "flow/inspect/detail/graph.h"
#include "flow/loop/loop.h"

#include <algorithm>

namespace flow {
using namespace inspect;
namespace {

constexpr std::size_t kMostAwaiters = 100;

bool isRunning(Frame const& frame) {
    if (frame.waiter->awaited.hasLeftBody()) // destructors of its locals run
        return true;
    if (frame.waiter->link.isLinked() || !frame.waiter->awaited.isNothing())
        return false;
    bool waits = false;
    if (isTask(frame.waiter))
        forEachChild(frame.waiter, Children::Awaited, [&](Waiter*) { waits = true; });
    return !waits;
}

/// Adds a line for each computation that awaits the cell, directly or through others.
void appendAwaiters(std::string& text, Frames const& frames, Codes& codes, Cell const* start) {
    std::vector<Cell const*> chain{start};
    for (std::size_t i = 0; i < chain.size() && i < kMostAwaiters; ++i)
        for (Link const* link = chain[i]->waiters.next; link != &chain[i]->waiters; link = link->next) {
            Waiter const* waiter = Waiter::of(const_cast<Link*>(link));
            Frame const* awaiter = frames.ownerOf(waiter);
            Cell const* next = awaiter ? awaiter->cell() : nullptr;
            if (next && std::find(chain.begin(), chain.end(), next) != chain.end())
                continue;
            text += "  awaited by " + (awaiter ? codes.titleOf(awaiter->waiter) : codes.of(waiter).name) + "\n";
            if (next)
                chain.push_back(next);
        }
}

std::string chainOf(void const* cell) {
    if (!hasLoop())
        return {};
    if (!cell)
        return asyncStack();
    Frames frames = Frames::ofThread();
    Codes codes;
    std::string text;
    for (Frame const& frame : frames) // adds a computation of the user: its line is useful
        if (frame.cell() == cell && codes.styleOf(frame.waiter) != Style::Operation &&
            !codes.nameOf(frame.waiter).starts_with("flow::"))
            text = codes.titleOf(frame.waiter) + " runs\n";
    appendAwaiters(text, frames, codes, static_cast<Cell const*>(cell));
    return text;
}

/// Runs before main(), so that the recorded origin of each error contains the chain of awaiters.
[[maybe_unused]] bool const isSetUp = [] {
    detail::setChainOfOrigins(chainOf);
    return true;
}();

} // namespace

std::string asyncStack() {
    Frames frames = Frames::ofThread();
    std::vector<Frame const*> running;
    for (Frame const& frame : frames)
        if (isRunning(frame))
            running.push_back(&frame);
    std::partition(running.begin(), running.end(), [](Frame const* frame) {
        return reinterpret_cast<void const*>(frame->waiter->resume) == detail::runningActor;
    });
    Codes codes;
    std::string text;
    for (Frame const* start : running) {
        text += codes.titleOf(start->waiter) + " runs\n";
        appendAwaiters(text, frames, codes, start->cell());
    }
    return text;
}

} // namespace flow
