#pragma once
// Pending: what the operand of a wait comes down to, once it has been evaluated: a cell of which a reference is held,
// a delay, or nothing to wait for. The styles suspend on a Pending; emitted code names it directly.
//
//     Pending wait = pending<int>(future);        // T is exact: Future<int> or Never
//     if (!wait.isReady()) ... suspend ...
//     if (wait.failed()) return fail(wait.takeError());
//     Result<int> result = wait.take<int>();      // keeps the value alive without copying it
//
// A Pending is copied freely but owns one reference: exactly one take..., drop or park must follow.

#include "flow/base/inline.h"
#include "flow/core/result.h"
#include "flow/core/stream.h"
#include "flow/loop/delay.h"

namespace flow {

namespace detail {
/// The next element of a stream.
template <class T>
T takeNext(Cell* cell) {
    FutureStream<T> held = FutureStream<T>::adopt(cell);
    return StreamState<T>::take(cell);
}
} // namespace detail

class Pending {
public:
    constexpr Pending() = default;
    explicit Pending(detail::Cell* cell) : cell_(cell) {}
    explicit Pending(Delay delay)
        : kind_(Kind::Delay), priority_(delay.priority()), cell_(nullptr), deadline_(delay.deadline()) {}
    /// What a wait finds after it was resumed: the cell in `awaited`, or nothing after a delay.
    FLOW_INLINE static Pending resumed(detail::Waiter* waiter) {
        Pending pending(waiter->awaited.cell());
        waiter->awaited = {};
        return pending;
    }
    /// What every wait of a cancelled actor finds.
    static Pending cancelled() { return Pending(detail::cancelledCell()); }

    FLOW_INLINE bool isReady() const { return kind_ == Kind::Cell && (!cell_ || cell_->isReady()); }
    bool isDelay() const { return kind_ == Kind::Delay; }
    Delay asDelay() const { return {deadline_, priority_}; }
    detail::Cell* cell() const { return cell_; }

    /// Parks a free waiter; this must not be ready.
    FLOW_INLINE void park(detail::Waiter* waiter) const {
        if (kind_ == Kind::Delay)
            loop().parkUntil(waiter, deadline_, priority_);
        else
            detail::park(waiter, cell_);
    }

    /// Whether the wait raises. The rest asks of a ready Pending, once.
    FLOW_INLINE bool failed() const { return cell_ && cell_->isError(); }
    FLOW_INLINE Error takeError() const { return detail::takeError(cell_); }
    /// The result by reference.
    template <class T>
    detail::Result<T> take() const {
        return detail::Result<T>(cell_);
    }
    /// The result by value.
    template <class T>
    T takeValue() const {
        return detail::takeValue<T>(cell_);
    }
    /// The next element of a stream.
    template <class T>
    T takeNext() const {
        return detail::takeNext<T>(cell_);
    }
    /// No result is wanted.
    FLOW_INLINE void drop() const {
        if (cell_)
            detail::releaseFuture(cell_);
    }

private:
    enum class Kind : unsigned char { Cell, Delay };

    Kind kind_ = Kind::Cell;
    TaskPriority priority_ = TaskPriority::Zero;
    detail::Cell* cell_ = nullptr;
    double deadline_ = 0;
};

namespace detail {
template <class T>
Cell* validCell(T const& future) {
    FLOW_ASSERT(future.isValid(), "a wait for an invalid Future: it was default-constructed or moved from");
    checkThread(future.cell());
    return future.cell();
}
} // namespace detail

/// The operand of `wait`: a Future<T> exactly, so that a value that happens to convert is refused.
template <class T, class Awaitable>
Pending pending(Awaitable&& awaitable) {
    using Plain = std::remove_cvref_t<Awaitable>;
    if constexpr (std::is_same_v<Plain, Never>) {
        return Pending(Future<T>(Never()).release());
    } else if constexpr (std::is_same_v<Plain, Delay>) {
        static_assert(std::is_same_v<T, Void>, "a delay has no result");
        return Pending(awaitable);
    } else if constexpr (std::is_same_v<Plain, Yield>) {
        static_assert(std::is_same_v<T, Void>, "a yield has no result");
        Loop& current = loop();
        if (!current.shouldYield()) [[likely]]
            return Pending();
        return Pending(delay(0, awaitable.priority()));
    } else if constexpr (std::is_base_of_v<Future<T>, Plain>) {
        detail::validCell(awaitable);
        if constexpr (std::is_lvalue_reference_v<Awaitable>) {
            detail::addFuture(awaitable.cell());
            return Pending(awaitable.cell());
        } else {
            return Pending(std::forward<Awaitable>(awaitable).release());
        }
    } else {
        static_assert(std::is_base_of_v<Future<T>, Plain>,
                      "wait(E) needs a Future of exactly the type that its result is declared with (Future<Void> "
                      "when it has none)");
    }
}

/// The operand of `waitNext`: a FutureStream<T>, at which nobody else may wait at the same time.
template <class T>
Pending pendingNext(FutureStream<T> const& stream) {
    detail::Cell* cell = detail::validCell(stream);
    FLOW_ASSERT(cell->waiters.isEmpty(), "two readers wait for one FutureStream at the same time");
    detail::addFuture(cell);
    return Pending(cell);
}

} // namespace flow
