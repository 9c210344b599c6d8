#pragma once
// FrameStack: ends frames, each after what it waited for, without recursion along chains of frames that wait for each
// other: a stack of detached frames, linked through their own links. The top is ended once everything it waited for has
// been released, which may push further ones.
//
//     FrameStack<Ending> stack;
//     stack.push(cell);                                // one for which Ending::mayEnd(cell)
//     stack.unwind();
//
// Ending says what an end is: whether the frame of a cell that loses its last future is to end (mayEnd), what comes
// before it is on the stack (begin; false: it runs further up and is left to that), and the end itself (end).

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
    /// What is to be done with a cell that has lost its last future.
    void lost(Cell* cell) noexcept {
        if (cell->promises == 0)
            freeCell(cell);
        else if (Ending::mayEnd(cell))
            push(cell);
    }

    Link* top_ = nullptr;
};

} // namespace flow::detail
