#include "flow/wait/dying_local.h"

#if FLOW_CHECKED
#include "flow/memory/detail/kept_exception.h"
#include "flow/memory/detail/system_block.h"

#include <algorithm>
#include <cstdio>

namespace flow::detail {
namespace {

constexpr int kMostFrames = 16; // the most frames that are searched in a chain of waits

/// Returns true if a word of `memory` points into the extent. ASan is off here, because it forbids some of these reads.
__attribute__((no_sanitize("address"))) bool hasAddress(void const* memory, std::size_t bytes, Extent extent) {
    auto const* word = static_cast<std::uintptr_t const*>(memory);
    for (auto const* end = word + bytes / sizeof *word; word != end; ++word)
        if (extent.has(*word))
            return true;
    return false;
}

/// Returns the number of bytes between the frame's Waiter and the end of the block; 0 if it is not known.
std::size_t bytesOf(Cell* cell) {
    auto* begin = static_cast<char*>(cell->valueAddress());
    memory::SizeClass sizeClass = cell->sizeClass;
    if (sizeClass == memory::kKeepingClass)
        sizeClass = memory::KeptException::classOf(begin);
    if (sizeClass == memory::kForeignClass)
        return 0;
    if (sizeClass == memory::kPaddedClass) {
        auto* padding = memory::PaddedBlock::of(begin);
        begin = padding->block();
        sizeClass = padding->sizeClass;
    }
#if FLOW_SYSTEM_BLOCKS
    std::size_t bytes = memory::detail::systemBytes(begin);
#else
    std::size_t bytes = memory::blockBytes(sizeClass);
#endif
    auto head = static_cast<std::size_t>(reinterpret_cast<char*>(cell->frame() + 1) - begin);
    return bytes > head ? bytes - head : 0;
}

bool frameHas(Cell* cell, Extent extent, int frames) {
    if (!cell || cell->isReady() || !cell->has(Cell::kHasFrame) || frames == 0)
        return false;
    Waiter* frame = cell->frame();
    if (hasAddress(frame + 1, bytesOf(cell), extent))
        return true;
    if (frame->awaited.isGroup()) {
        BranchGroup const* group = frame->awaited.group();
        for (std::uint32_t i = 0; i != group->count; ++i)
            if (group->branches[i].awaited.isCell() && frameHas(group->branches[i].awaited.cell(), extent, frames - 1))
                return true;
        return false;
    }
    bool isCell = frame->awaited.isCell() || (frame->awaited.isPropagating() && !frame->awaited.isOperation());
    return isCell && frameHas(frame->awaited.anyCell(), extent, frames - 1);
}

/// The search of a wait's operand for pointers into a local.
class Search final : public ExtentVisitor {
public:
    Search(Pending pending, std::initializer_list<DyingLocal> locals) : pending_(pending), locals_(locals) {}

    bool finds(DyingLocal const& local) {
        found_ = false;
        isUsed_ = local.isUsed;
        if (local.object)
            local.visit(local.object, *this);
        return found_;
    }

    void visit(Extent extent) override {
        if (pending_.isHeld())
            found_ = found_ || hasAddress(pending_.held()->bytes, sizeof pending_.held()->bytes, extent);
        else if (pending_.isOperation() || (isUsed_ && !extent.isElements))
            found_ = found_ || frameHas(pending_.cell(), extent, kMostFrames);
    }
    int owners(void const* object) override {
        int count = 0;
        for (DyingLocal const& each : locals_)
            count += each.object && each.referent && each.referent(each.object) == object;
        return std::max(count, 1); // a Reference inside a local is not in the list: it is one owner
    }

private:
    Pending pending_;
    std::initializer_list<DyingLocal> locals_;
    bool isUsed_ = false;
    bool found_ = false;
};

} // namespace

void DyingLocals::check(Pending pending) const {
    Search search(pending, locals_);
    for (DyingLocal const& local : locals_) {
        if (!search.finds(local))
            continue;
        char text[512];
        std::snprintf(
            text, sizeof text,
            "this wait destroys `%s`, a plain local, and waits for what refers to it: declare it with `state`",
            local.name);
        assertionFailed("a plain local lives up to the next wait", text, __FILE__, __LINE__, caller_);
    }
}

} // namespace flow::detail
#endif
