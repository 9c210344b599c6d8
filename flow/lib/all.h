#pragma once
// Waiting for several futures at once.
//
//     wait(waitForAll(replies));            // every one has a value, or the first error
//     wait(quorum(replies, 2));             // two values, or the first error
//     wait(waitForAny(replies));            // the first to come, value or error
//     wait(waitForAllReady(replies));       // every one has come, value or error
//     wait(save() && send());               // both
//     wait(reply || delay(1.0));            // either
//     wait(success(reply));                 // when it comes, whatever the value
//
// Each is one allocation, whatever the number of inputs. Inputs that are not ready are held until the result is, then
// released before anyone who waits for the result runs; an input that nobody else holds is cancelled by that.
// Cancel-safe: dropping the result releases the inputs. With an error, the first one in time counts; among those that
// are ready at the call, the first in order.

#include "flow/wait/pending.h"

#include <type_traits>
#include <vector>

namespace flow {

namespace detail {

/// The frame of a quorum: a group of branches behind it, one for each input that is not ready at the call. Completes
/// when `needed` more have values, or with the first error (which an `indifferent` one takes for a value).
class QuorumFrame : public Waiter {
public:
    /// Ready at once if the inputs decide it. Holds the others; the caller keeps its references.
    static Future<Void> make(Cell* const* inputs, std::size_t count, std::size_t needed, bool indifferent = false);

private:
    static Cell* create(std::size_t count, std::size_t needed, bool indifferent);
    static QuorumFrame& of(Cell* cell) { return *static_cast<QuorumFrame*>(cell->frame()); }
    static void resumeCancelled(Waiter* frame);
    static void fire(Waiter* branch);
    static Waiter* finish(Cell* cell, Error error) noexcept;
    Waiter* branches() { return reinterpret_cast<Waiter*>(this + 1); }

    BranchGroup group_;
    std::uint32_t needed_;
    std::uint32_t parked_; // branches that have not fired
    bool indifferent_;
};

/// Anything that can be waited for without a result: a Future, a delay. Holds it for the time of a call.
template <class T>
struct Input {};
template <class T>
struct Input<Future<T>> {
    explicit Input(Future<T> const& future) : cell(validCell(future)) {}
    Cell* cell;
};
struct TimeInput {
    explicit TimeInput(Future<Void> made) : future(std::move(made)), cell(future.cell()) {}
    Future<Void> future;
    Cell* cell;
};
template <>
struct Input<Delay> : TimeInput {
    using TimeInput::TimeInput;
};
template <>
struct Input<Yield> : TimeInput {
    using TimeInput::TimeInput;
};
template <>
struct Input<Never> : TimeInput {
    using TimeInput::TimeInput;
};

template <class... Inputs>
Future<Void> quorumOf(std::size_t needed, Input<Inputs> const&... inputs) {
    Cell* cells[] = {inputs.cell...};
    return QuorumFrame::make(cells, sizeof...(Inputs), needed);
}

/// A Future is its cell.
template <class T>
Cell* const* cellsOf(std::vector<Future<T>> const& futures) {
    static_assert(sizeof(Future<T>) == sizeof(Cell*) && std::is_standard_layout_v<Future<T>>);
    for (Future<T> const& future : futures)
        validCell(future);
    return reinterpret_cast<Cell* const*>(futures.data());
}

} // namespace detail

template <class T>
concept WaitableInput = requires(detail::Input<T> input) { input.cell; };

/// Ready when `needed` of the futures have values; fails with the first error, even if enough others could still come.
template <class T>
Future<Void> quorum(std::vector<Future<T>> const& futures, std::size_t needed) {
    FLOW_ASSERT(needed <= futures.size(), "a quorum of more futures than there are");
    return detail::QuorumFrame::make(detail::cellsOf(futures), futures.size(), needed);
}

/// Ready when all have come, with values or errors.
template <class T>
Future<Void> waitForAllReady(std::vector<Future<T>> const& futures) {
    return detail::QuorumFrame::make(detail::cellsOf(futures), futures.size(), futures.size(), true);
}

/// Ready when all have values; fails with the first error.
template <class T>
Future<Void> waitForAll(std::vector<Future<T>> const& futures) {
    return quorum(futures, futures.size());
}

/// Ready when the first has a value; fails if an error comes first. Ready at once if there are none.
template <class T>
Future<Void> waitForAny(std::vector<Future<T>> const& futures) {
    return quorum(futures, futures.empty() ? 0 : 1);
}

/// Ready when both are; fails with the first error.
template <WaitableInput A, WaitableInput B>
Future<Void> operator&&(A const& a, B const& b) {
    return detail::quorumOf(2, detail::Input<A>(a), detail::Input<B>(b));
}

/// Ready when either is; fails if the first to come is an error.
template <WaitableInput A, WaitableInput B>
Future<Void> operator||(A const& a, B const& b) {
    return detail::quorumOf(1, detail::Input<A>(a), detail::Input<B>(b));
}

/// Ready when the future has a value; fails with its error.
template <WaitableInput T>
Future<Void> success(T const& future) {
    return detail::quorumOf(1, detail::Input<T>(future));
}

} // namespace flow
