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
// Each is one allocation, whatever the number of inputs. With an error, the first one in time counts; among those that
// are ready at the call, the first in order.
//
// Inputs that are not ready are held, and run on, for as long as the result is held, also when it is ready: what waits
// for the result runs first, and may go on to wait for the inputs that are left. Dropping or cancelling the result
// releases them; an input that nothing else holds is cancelled by that. With Remaining::Released they are released as
// soon as the result is decided, before what waits for it runs. `||` always does so.

#include "flow/wait/pending.h"

#include <type_traits>
#include <vector>

namespace flow {

/// What becomes of the inputs that are not ready when a result is decided.
enum class Remaining : std::uint8_t { RunOn, Released };

namespace detail {

/// The frame of a quorum: a group of branches behind it, one for each input that is not ready at the call. It is
/// decided when `needed` more have values, or by the first error (which an `indifferent` one takes for a value). The
/// frame stays until no branch is parked any more.
class QuorumFrame : public Waiter {
public:
    /// The result of the inputs. Holds those that are not ready; the caller keeps its references.
    static Future<Void> make(Cell* const* inputs, std::size_t count, std::size_t needed, Remaining remaining,
                             bool indifferent = false);

private:
    static Cell* create(std::size_t count, std::size_t needed, Remaining remaining, bool indifferent);
    static QuorumFrame& of(Cell* cell) { return *static_cast<QuorumFrame*>(cell->frame()); }
    static void resumeCancelled(Waiter* frame);
    static void fire(Waiter* branch);
    static void releaseBranches(Cell* cell) noexcept;
    static void retire(Cell* cell) noexcept;
    Waiter* branches() { return reinterpret_cast<Waiter*>(this + 1); }
    bool isDecided() const { return needed_ == 0; }

    BranchGroup group_;
    std::uint32_t needed_;
    std::uint32_t parked_; // branches that have not fired
    Remaining remaining_;
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
Future<Void> quorumOf(std::size_t needed, Remaining remaining, Input<Inputs> const&... inputs) {
    Cell* cells[] = {inputs.cell...};
    return QuorumFrame::make(cells, sizeof...(Inputs), needed, remaining);
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
Future<Void> quorum(std::vector<Future<T>> const& futures, std::size_t needed, Remaining remaining = Remaining::RunOn) {
    FLOW_ASSERT(needed <= futures.size(), "a quorum of more futures than there are");
    return detail::QuorumFrame::make(detail::cellsOf(futures), futures.size(), needed, remaining);
}

/// Ready when all have come, with values or errors.
template <class T>
Future<Void> waitForAllReady(std::vector<Future<T>> const& futures) {
    return detail::QuorumFrame::make(detail::cellsOf(futures), futures.size(), futures.size(), Remaining::RunOn, true);
}

/// Ready when all have values; fails with the first error.
template <class T>
Future<Void> waitForAll(std::vector<Future<T>> const& futures, Remaining remaining = Remaining::RunOn) {
    return quorum(futures, futures.size(), remaining);
}

/// Ready when the first has a value; fails if an error comes first. Ready at once if there are none.
template <class T>
Future<Void> waitForAny(std::vector<Future<T>> const& futures, Remaining remaining = Remaining::RunOn) {
    return quorum(futures, futures.empty() ? 0 : 1, remaining);
}

/// Ready when both are; fails with the first error.
template <WaitableInput A, WaitableInput B>
Future<Void> operator&&(A const& a, B const& b) {
    return detail::quorumOf(2, Remaining::RunOn, detail::Input<A>(a), detail::Input<B>(b));
}

/// Ready when either is; fails if the first to come is an error. The other is released before what waits for this runs.
template <WaitableInput A, WaitableInput B>
Future<Void> operator||(A const& a, B const& b) {
    return detail::quorumOf(1, Remaining::Released, detail::Input<A>(a), detail::Input<B>(b));
}

/// Ready when the future has a value; fails with its error.
template <WaitableInput T>
Future<Void> success(T const& future) {
    return detail::quorumOf(1, Remaining::RunOn, detail::Input<T>(future));
}

} // namespace flow
