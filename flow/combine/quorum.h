#pragma once
// Quorum: a future that is ready when a given number of other futures are ready. all(), some(), && and || use it.
// Programs use those functions (flow/combine/all.h).
//
//     Future<Void> two = quorumOf(replies, 2, Remaining::RunOn);
//     Future<Void> either = quorumOf(1, Remaining::Released, WaitInput(reply), WaitInput(limit));
//
// A quorum makes one allocation: a frame with a branch for each input. The frame is no Operation, because it stays when
// the result is ready: the other inputs run on as long as the result is held.

#include "flow/wait/detail/pending.h"

#include <concepts>
#include <type_traits>
#include <vector>

namespace flow {

/// Says what happens to inputs that are not ready when the result is decided: they run on, or are released.
enum class Remaining : std::uint8_t { RunOn, Released };

/// Says whether an input that fails decides the result, or counts as an input with a value.
enum class Errors : bool { Decide, CountAsReady };

namespace combine {
/// The error of some() for a count above the number of operands.
[[gnu::cold]] Error tooFew(std::size_t count, std::size_t operands);
} // namespace combine

namespace detail {

/// The frame of a quorum, and behind it a group of branches: one for each input that is not ready at the call. The
/// result is decided when `needed` inputs have values. `spare` errors are ignored; the next error decides the result.
/// (If `indifferent`, each error counts as a value.) The frame stays until no branch is parked any more.
class QuorumFrame : public Waiter {
public:
    /// Makes the future of the result. The frame holds the inputs that are not ready; the caller keeps its references.
    static Future<Void> make(Cell* const* inputs, std::size_t count, std::size_t needed, Remaining remaining,
                             bool indifferent = false, std::size_t spare = 0);

private:
    static QuorumFrame& of(Cell* cell) { return *static_cast<QuorumFrame*>(cell->frame()); }
    static void resumeCancelled(Waiter* frame);
    static void fire(Waiter* branch);
    /// Does fire() for an input with an error, and from the deciding input on. Returns the next waiter to run, or null.
    [[gnu::noinline]] static Waiter* fireWithCare(Waiter* branch) noexcept;
    static void releaseBranches(Cell* cell) noexcept;
    static void retire(Cell* cell) noexcept;
    Waiter* branches() { return reinterpret_cast<Waiter*>(this + 1); }
    bool isDecided() const { return needed_ == 0; }

    BranchGroup group_;
    std::uint32_t needed_;
    std::uint32_t parked_; // branches that have not fired
    std::uint32_t spare_;
    Remaining remaining_;
    bool indifferent_;
};

/// Returns the memory of the vector as an array of cells: a Future is nothing but a pointer to its cell.
template <class T>
Cell* const* cellsOf(std::vector<Future<T>> const& futures, Caller caller) {
    static_assert(sizeof(Future<T>) == sizeof(Cell*) && std::is_standard_layout_v<Future<T>>);
    for (Future<T> const& future : futures)
        validCell(future, caller);
    return reinterpret_cast<Cell* const*>(futures.data());
}

} // namespace detail

/// The parameter type of && and ||, for a Future or a value that converts to Future<Void>, as a delay does. A WaitInput
/// is made by a conversion, which notes where the operator is called. It is valid during the call of the operator.
class WaitInput {
public:
    template <class T>
    WaitInput(Future<T> const& future, detail::Caller caller = detail::Caller::current())
        : cell_(detail::validCell(future, caller)) {}
    template <std::convertible_to<Future<Void>> T>
    WaitInput(T const& other, detail::Caller caller = detail::Caller::current())
        : made_(other), cell_(detail::validCell(made_, caller)) {}

    detail::Cell* cell() const { return cell_; }

private:
    Future<Void> made_;
    detail::Cell* cell_;
};

/// Returns a future that is ready when `needed` inputs have values. The future fails with the first error.
Future<Void> quorumOf(std::size_t needed, Remaining remaining, std::same_as<WaitInput> auto const&... inputs) {
    detail::Cell* cells[] = {inputs.cell()...};
    return detail::QuorumFrame::make(cells, sizeof...(inputs), needed, remaining);
}

/// quorumOf() for a vector. The first `spare` errors are ignored; the next one fails the result. With
/// Errors::CountAsReady, an error counts as a value.
template <class T>
Future<Void> quorumOf(std::vector<Future<T>> const& futures, std::size_t needed, Remaining remaining,
                      Errors errors = Errors::Decide, detail::Caller caller = detail::Caller(), std::size_t spare = 0) {
    return detail::QuorumFrame::make(detail::cellsOf(futures, caller), futures.size(), needed, remaining,
                                     errors == Errors::CountAsReady, spare);
}

} // namespace flow
