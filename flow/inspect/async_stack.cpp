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

/// This setup runs before main(). So the recorded origin of each error contains the chain of awaiters.
[[maybe_unused]] bool const isSetUp = [] {
    detail::setChainOfOrigins([] { return hasLoop() ? asyncStack() : std::string(); });
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
        std::vector<Frame const*> chain{start};
        for (std::size_t i = 0; i < chain.size() && i < kMostAwaiters; ++i) {
            Cell* cell = chain[i]->cell();
            for (Link* link = cell->waiters.next; link != &cell->waiters; link = link->next) {
                Waiter* waiter = Waiter::of(link);
                Frame const* awaiter = frames.ownerOf(waiter);
                if (std::find(chain.begin(), chain.end(), awaiter) != chain.end())
                    continue;
                text += "  awaited by " + (awaiter ? codes.titleOf(awaiter->waiter) : codes.of(waiter).name) + "\n";
                if (awaiter)
                    chain.push_back(awaiter);
            }
        }
    }
    return text;
}

} // namespace flow
