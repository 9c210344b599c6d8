// Frames are found in two ways. A simulated process has a list of its cells (Frames::of). A real thread has none:
// Frames::ofThread() walks the blocks of the allocator, and tests each offset at which a cell may begin (frameIn). Then
// addReachable() follows the waits of the found frames, also into blocks that are not walked.
//
// A block may be free or hold other data: no pointer is followed before `resume` is known to be code of the program.

#include "flow/inspect/detail/frames.h"

#include "flow/loop/loop.h"
#include "flow/memory/detail/block_walk.h"
#include "flow/memory/detail/foreign_block.h"
#include "flow/memory/detail/kept_exception.h"
#include "flow/memory/detail/padded_block.h"
#include "flow/wait/detail/choose.h"

#include <algorithm>
#include <link.h>

namespace flow::inspect {
namespace {

struct Range {
    std::uintptr_t begin, end;
};

/// Returns the address ranges of the program's code. Not cached, since more code may be loaded.
std::vector<Range> codeOfProgram() {
    std::vector<Range> ranges;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                auto const& header = info->dlpi_phdr[i];
                if (header.p_type == PT_LOAD && (header.p_flags & PF_X)) {
                    std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
                    static_cast<std::vector<Range>*>(out)->push_back({begin, begin + header.p_memsz});
                }
            }
            return 0;
        },
        &ranges);
    return ranges;
}

thread_local std::vector<Range> code;

template <class Function>
bool isCode(Function function) {
    auto address = reinterpret_cast<std::uintptr_t>(function);
    return std::any_of(code.begin(), code.end(),
                       [&](Range const& range) { return address - range.begin < range.end - range.begin; });
}

/// Returns true if the memory at `cell` looks like the cell of an unfinished computation. Only compares words, without
/// instrumentation, because the memory may hold anything, and a sanitizer may forbid reading it.
__attribute__((no_sanitize("address", "thread"))) bool isUnfinished(Cell const* cell) {
    constexpr int kReady = Cell::kReadyBit | Cell::kErrorBit;
    return (cell->flags & (kReady | Cell::kHasFrame)) == Cell::kHasFrame && cell->promises != 0 &&
           cell->promises < 1u << 20 && cell->sizeClass != 0 && cell->sizeClass < memory::kClassCount;
}

bool hasCode(Waiter const* frame) {
    return isCode(frame->resume) && (!frame->destroy || isCode(frame->destroy));
}

/// Returns true if the cell's fields match this block. The block of a task begins with a ForeignBlock.
__attribute__((no_sanitize("address", "thread"))) bool isIn(char* block, std::size_t bytes, Cell* cell) {
    auto* begin = reinterpret_cast<char*>(cell) - cell->prefixUnits * std::size_t{16};
    memory::SizeClass sizeClass = cell->sizeClass;
    if (sizeClass == memory::kKeepingClass)
        sizeClass = memory::KeptException::classOf(begin);
    if (sizeClass <= memory::kSystemClass)
        return begin == block && sizeClass == memory::sizeClassOf(bytes);
    if (begin < block + sizeof(memory::ForeignBlock))
        return false;
    bool isTask = sizeClass == memory::kForeignClass;
    return begin - (isTask ? memory::ForeignBlock::of(begin)->padding : memory::PaddedBlock::of(begin)->padding) ==
           block;
}

/// Returns the frame of an unfinished computation of this thread in a block; null if there is none.
__attribute__((no_sanitize("thread"))) Waiter* frameIn(char* block, std::size_t bytes) {
    constexpr std::size_t kLeast = sizeof(Cell) + sizeof(Waiter);
    for (std::size_t prefix = 0; prefix + kLeast <= bytes; prefix += 16) {
        auto* cell = reinterpret_cast<Cell*>(block + prefix);
        if (!isUnfinished(cell) || !isIn(block, bytes, cell) || !hasCode(cell->frame()))
            continue;
#if FLOW_CHECKED
        if (cell->owner != thisThread() &&
            !(hasLoop() && Loop::current().isSimulated())) // the block is in use by another thread
            continue;
#endif
        return cell->frame();
    }
    return nullptr;
}

Frame frameOf(Cell* cell, std::size_t number) {
    auto* begin = static_cast<char*>(cell->valueAddress());
    if (isTask(cell->frame())) {
        auto* block = memory::ForeignBlock::of(begin);
        return {block->begin(), block->begin() + block->bytes(), cell->frame(), number};
    }
    memory::SizeClass sizeClass = cell->sizeClass;
    if (sizeClass == memory::kKeepingClass)
        sizeClass = memory::KeptException::classOf(begin);
    if (sizeClass == memory::kPaddedClass) {
        auto* padding = memory::PaddedBlock::of(begin);
        begin = padding->block();
        sizeClass = padding->sizeClass;
    }
#if FLOW_SYSTEM_BLOCKS // these blocks have exactly the requested size
    std::size_t bytes = memory::detail::systemBytes(begin);
#else
    std::size_t bytes = memory::blockBytes(sizeClass);
#endif
    char* end = bytes != 0 ? begin + bytes : reinterpret_cast<char*>(cell->frame() + 1);
    return {begin, end, cell->frame(), number};
}

} // namespace

// Calls hasCode() first: it is false for a branch, which has no cell, and has `owner` in the place of `destroy`.
bool isFrame(Waiter const* waiter) {
    if (code.empty())
        code = codeOfProgram();
    Cell const* cell = Cell::of(const_cast<Waiter*>(waiter));
    return hasCode(waiter) && isUnfinished(cell);
}

bool isTask(Waiter const* frame) {
    return parentOfTask && Cell::of(const_cast<Waiter*>(frame))->sizeClass == memory::kForeignClass;
}

Frames Frames::ofThread() {
    code = codeOfProgram();
    Frames found;
    memory::forEachBlock([&](void* block, std::size_t bytes) {
        auto* begin = static_cast<char*>(block);
        if (Waiter* frame = frameIn(begin, bytes))
            found.frames_.push_back({begin, begin + bytes, frame, 0});
    });
    found.sort();
    found.addReachable();
    for (Frame& frame : found.frames_)
        frame.number = static_cast<std::size_t>(&frame - found.frames_.data());
    return found;
}

Frames Frames::of(CellGroup const& cells) {
    code = codeOfProgram();
    Frames found;
    cells.forEach([&](Cell* cell) {
        if (cell->has(Cell::kHasFrame) && !cell->isReady()) // a quorum that is ready may still hold inputs
            found.frames_.push_back(frameOf(cell, found.frames_.size()));
    });
    found.sort();
    return found;
}

void Frames::sort() {
    std::sort(frames_.begin(), frames_.end(), [](Frame const& a, Frame const& b) { return a.begin < b.begin; });
    regions_.clear();
    for (std::size_t i = 0; i < frames_.size(); ++i)
        if (std::uintptr_t region = regionOf(frames_[i].begin); regions_.empty() || regions_.back().region != region)
            regions_.push_back({region, i});
}

std::vector<Frame const*> Frames::inOrder() const {
    std::vector<Frame const*> order(frames_.size());
    for (Frame const& frame : frames_)
        order[frame.number] = &frame;
    return order;
}

// Binary search among the regions, then in one region: the regions of a million frames fit into the cache.
Frame const* Frames::holding(void const* address) const {
    auto* place = static_cast<char const*>(address);
    auto region = std::upper_bound(regions_.begin(), regions_.end(), regionOf(place),
                                   [](std::uintptr_t wanted, Region const& each) { return wanted < each.region; });
    if (region == regions_.begin())
        return nullptr;
    auto last = region == regions_.end() ? frames_.end() : frames_.begin() + static_cast<std::ptrdiff_t>(region->first);
    auto first = frames_.begin() + static_cast<std::ptrdiff_t>((region - 1)->first);
    auto after =
        std::upper_bound(first, last, place, [](char const* at, Frame const& frame) { return at < frame.begin; });
    if (after == frames_.begin() || place >= (after - 1)->end)
        return nullptr;
    return &*(after - 1);
}

Frame const* Frames::of(Waiter const* frame) const {
    Frame const* found = holding(frame);
    return found && found->waiter == frame ? found : nullptr;
}

Frame const* Frames::ownerOf(Waiter const* waiter) const {
    if (Frame const* found = holding(waiter))
        return found;
    Waiter const* frame = ChooseBase::frameOf(waiter); // it may be a branch of a choose on a fiber's stack
    return frame ? of(frame) : nullptr;
}

/// Adds the frames for which known frames wait, and the frames that wait for known frames, until there are no more.
void Frames::addReachable() {
    std::vector<Waiter*> found;
    auto add = [&](Waiter const* waiter) {
        if (Waiter const* frame = ChooseBase::frameOf(waiter))
            waiter = frame;
        if (!holding(waiter) && isFrame(waiter))
            found.push_back(const_cast<Waiter*>(waiter));
    };
    auto follow = [&](Waiter const* frame) {
        Cell const* cell = Cell::of(const_cast<Waiter*>(frame));
        for (Link* link = cell->waiters.next; link != &cell->waiters; link = link->next)
            add(Waiter::of(link));
        if (isTask(frame)) {
            if (Waiter* parent = parentOfTask(frame))
                add(parent);
            forEachChild(frame, Children::All, add);
        }
        forEachParked(frame, [&](Waiter const* waiter) {
            if (!waiter->awaited.isCell())
                return;
            Cell* awaited = waiter->awaited.anyCell();
            if (awaited->has(Cell::kHasFrame) && !awaited->isReady())
                add(awaited->frame());
            if (waiter->link.prev != &awaited->waiters) // follows each list only once
                return;
            for (Link* link = awaited->waiters.next; link != &awaited->waiters; link = link->next)
                add(Waiter::of(link));
        });
    };
    if (hasLoop())
        Loop::current().forEachParked(add);
    for (Frame const& frame : frames_)
        follow(frame.waiter);
    while (!found.empty()) {
        std::vector<Waiter*> fresh;
        std::swap(fresh, found);
        std::sort(fresh.begin(), fresh.end());
        fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
        for (Waiter* frame : fresh)
            frames_.push_back(frameOf(Cell::of(frame), 0));
        sort();
        for (Waiter* frame : fresh)
            follow(frame);
    }
}

} // namespace flow::inspect
