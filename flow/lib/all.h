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
// Each is one allocation, whatever the number of inputs. Inputs are held until the result is ready, then released
// before anyone who waits for the result runs; an input that nobody else holds is cancelled by that. Cancel-safe:
// dropping the result releases the inputs. With an error, the first one in time counts; among those that are ready at
// the call, the first in order.

#include "flow/loop/pending.h"

#include <array>
#include <vector>

namespace flow {

namespace detail {

/// The frame of a quorum: a group of branches behind it, one for each input. Completes when `needed` more have values,
/// or with the first error (which an `indifferent` one takes for a value).
class QuorumFrame : public Waiter {
public:
    /// Holds `count` inputs, taken with one `add` each, then `start`.
    static Cell* create(std::size_t count, std::size_t needed, bool indifferent = false);
    /// Takes over one future reference.
    void add(Cell* input);
    /// Settles at once if the inputs decide it; otherwise parks the branches. Throws nothing.
    static Future<Void> start(Cell* cell) noexcept;

    static QuorumFrame& of(Cell* cell) { return *static_cast<QuorumFrame*>(cell->frame()); }

private:
    static void resumeCancelled(Waiter* frame);
    static void fire(Waiter* branch);
    static Waiter* finish(Cell* cell, Error error) noexcept;
    Error errorOf(Cell* input) const { return input->isError() && !indifferent_ ? input->error : Error(); }
    Waiter* branches() { return reinterpret_cast<Waiter*>(this + 1); }

    BranchGroup group_;
    std::size_t needed_;
    bool indifferent_;
};

/// Anything that can be waited for without a result: a Future, a delay.
template <class T>
struct AsFuture {};
template <class T>
struct AsFuture<Future<T>> {
    static Cell* cell(Future<T> const& future) {
        Cell* cell = validCell(future);
        addFuture(cell);
        return cell;
    }
};
struct TimeAsFuture {
    static Cell* cell(Future<Void> future) { return std::move(future).release(); }
};
template <>
struct AsFuture<Delay> : TimeAsFuture {};
template <>
struct AsFuture<Yield> : TimeAsFuture {};
template <>
struct AsFuture<Never> : TimeAsFuture {};

template <class... Inputs>
Future<Void> quorumOf(std::size_t needed, Inputs const&... inputs) {
    Cell* cell = QuorumFrame::create(sizeof...(Inputs), needed);
    Future<Void> unstarted = Future<Void>::adopt(cell); // owns the inputs if one of them cannot be made
    (QuorumFrame::of(cell).add(AsFuture<Inputs>::cell(inputs)), ...);
    return QuorumFrame::start(std::move(unstarted).release());
}

} // namespace detail

template <class T>
concept WaitableInput = requires(T const& input) { detail::AsFuture<T>::cell(input); };

/// Ready when `needed` of the futures have values; fails with the first error, even if enough others could still come.
template <class T>
Future<Void> quorum(std::vector<Future<T>> const& futures, std::size_t needed) {
    FLOW_ASSERT(needed <= futures.size(), "a quorum of more futures than there are");
    detail::Cell* cell = detail::QuorumFrame::create(futures.size(), needed);
    for (Future<T> const& future : futures)
        detail::QuorumFrame::of(cell).add(detail::AsFuture<Future<T>>::cell(future));
    return detail::QuorumFrame::start(cell);
}

/// Ready when all have come, with values or errors.
template <class T>
Future<Void> waitForAllReady(std::vector<Future<T>> const& futures) {
    detail::Cell* cell = detail::QuorumFrame::create(futures.size(), futures.size(), true);
    for (Future<T> const& future : futures)
        detail::QuorumFrame::of(cell).add(detail::AsFuture<Future<T>>::cell(future));
    return detail::QuorumFrame::start(cell);
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
    return detail::quorumOf(2, a, b);
}

/// Ready when either is; fails if the first to come is an error.
template <WaitableInput A, WaitableInput B>
Future<Void> operator||(A const& a, B const& b) {
    return detail::quorumOf(1, a, b);
}

/// Ready when the future has a value; fails with its error.
template <WaitableInput T>
Future<Void> success(T const& future) {
    return detail::quorumOf(1, future);
}

} // namespace flow
