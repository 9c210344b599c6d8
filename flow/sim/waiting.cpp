#include "flow/sim/waiting.h"

#include "flow/base/format.h"
#include "flow/base/symbol.h"

namespace flow {
using namespace detail;
namespace {

std::string nameOf(Waiter const* frame) {
    char name[160];
    actorNameAt(reinterpret_cast<void const*>(frame->resume), name, sizeof name);
    return name;
}

std::string describe(Cell* cell) {
    if (cell->has(Cell::kHasFrame))
        return nameOf(cell->frame());
    if (cell->promises == 0)
        return "what nobody will set";
    return cell->promises == 1 ? "a promise" : format("a promise that %u hold", cell->promises);
}

std::string describe(Waiter const* waiter) {
    Awaited awaited = waiter->awaited;
    if (awaited.isNothing())
        return waiter->link.isLinked() ? "its turn" : "nothing: it runs";
    if (awaited.isTurn())
        return "its turn";
    if (awaited.isTimer())
        return format("a timer at %.9g", awaited.timer()->deadline);
    if (!awaited.isGroup())
        return describe(awaited.anyCell());
    BranchGroup const* group = awaited.group();
    std::string text = "one of:";
    for (std::uint32_t i = 0; i < group->count; ++i)
        text += (i == 0 ? " " : ", ") + describe(&group->branches[i]);
    return text;
}

} // namespace

std::string describeWaiting(CellGroup const& cells) {
    std::string text;
    cells.forEach([&](Cell* cell) {
        if (cell->has(Cell::kHasFrame))
            text += "  " + nameOf(cell->frame()) + " waits for " + describe(cell->frame()) + "\n";
    });
    return text;
}

} // namespace flow
