#include "flow/core/detail/wait_graph.h"

#include "flow/base/format.h"
#include "flow/diag/detail/symbol.h"

#include <string_view>
#include <utility>

namespace flow {
using namespace detail;
namespace {

std::string nameOf(Waiter const* frame) {
    char name[160];
    actorNameAt(reinterpret_cast<void const*>(frame->resume), name, sizeof name);
    std::string_view text = name;
    if (std::size_t last = text.rfind("::"); last != text.npos && text.substr(last).starts_with("::resume"))
        text = text.substr(0, last); // a frame of the library is named by its type
    return std::string(text);
}

std::string describe(Cell* cell, CellSource const& source) {
    if (cell->has(Cell::kHasFrame))
        return nameOf(cell->frame());
    if (std::string text = source ? source(cell) : std::string(); !text.empty())
        return text;
    if (cell->promises == 0)
        return "what will never be set";
    return cell->promises == 1 ? "a promise" : format("a promise that %u hold", cell->promises);
}

std::string describe(Waiter const* waiter, CellSource const& source) {
    Awaited awaited = waiter->awaited;
    if (awaited.isNothing())
        return waiter->link.isLinked() ? "its turn" : "nothing, since it runs";
    if (awaited.hasLeftBody())
        return "nothing, since it ends";
    if (awaited.isTurn())
        return "its turn";
    if (awaited.isOperation()) {
        std::string text = source ? source(awaited.operation()) : std::string();
        return text.empty() ? "an operation" : text;
    }
    if (awaited.isTimer())
        return format("a timer at %.9g", awaited.timer()->deadline);
    if (!awaited.isGroup())
        return describe(awaited.anyCell(), source);
    BranchGroup const* group = awaited.group();
    std::string text = "one of:";
    char const* before = " ";
    for (std::uint32_t i = 0; i < group->count; ++i) {
        if (!group->branches[i].link.isLinked()) // this branch is ready; the group still needs other branches
            continue;
        text += std::exchange(before, ", ") + describe(&group->branches[i], source);
    }
    return text;
}

} // namespace

std::string describeWaiting(CellGroup const& cells, CellSource const& source) {
    std::string text;
    cells.forEach([&](Cell* cell) {
        if (cell->has(Cell::kHasFrame) && !cell->isReady()) // a quorum that is ready may still hold inputs
            text += "  " + nameOf(cell->frame()) + " waits for " + describe(cell->frame(), source) + "\n";
    });
    return text;
}

} // namespace flow
