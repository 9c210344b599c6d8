#pragma once
// FrameStack: ends frames without recursion along chains of waits. Each frame ends after the frames for which it
// waited. A FrameStack is a stack of detached frames, linked through their own links. When all cells for which the top
// frame waited are released, that frame is ended. A release may push a further frame.
//
//     FrameStack<Ending> stack;
//     stack.push(cell);                                // Ending::mayEnd(cell) must be true
//     stack.unwind();
//
// `Ending` has three functions. mayEnd(): true if the frame of the cell must end when the cell loses its last future.
// begin(): prepares the frame for the stack; false if the frame runs now and must not be pushed. end(): ends the frame.

#include "flow/core/cell.h"

namespace flow::detail {

template <class Ending>
class FrameStack {
public:
    FLOW_INLINE void push(Cell* cell) noexcept {
        Waiter* frame = cell->frame();
        if (!Ending::begin(cell, frame))
            return;
        frame->link.next = top_;
        top_ = &frame->link;
    }

    FLOW_INLINE void unwind() noexcept {
        while (top_) {
            Waiter* frame = Waiter::of(top_);
            bool waitsForSeveral = frame->awaited.isGroup();
            if (Cell* awaited = takeAwaited(frame)) {
                if (--awaited->futures == 0)
                    lost(awaited);
                if (waitsForSeveral || top_ != &frame->link)
                    continue;
            }
            top_ = frame->link.next;
            frame->link.next = nullptr;
            Ending::end(frame);
        }
    }

private:
    /// Called for a cell that has lost its last future: frees the cell, or pushes its frame.
    void lost(Cell* cell) noexcept {
        if (cell->promises == 0)
            freeCell(cell);
        else if (Ending::mayEnd(cell))
            push(cell);
    }

    Link* top_ = nullptr;
};

} // namespace flow::detail
