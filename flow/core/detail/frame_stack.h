#pragma once
// FrameStack: ends frames, each after the frames for which it waited, without recursion along chains of waits. It is a
// stack of detached frames, linked through their own links. The top frame is ended once all cells for which it waited
// have been released, which may push further frames.
//
//     FrameStack<Ending> stack;
//     stack.push(cell);                                // a cell for which Ending::mayEnd(cell)
//     stack.unwind();
//
// `Ending` has three functions. mayEnd(): true if the frame of a cell that loses its last future is to end. begin():
// prepares the frame for the stack; false if the frame runs now, and stays out. end(): ends the frame.

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
