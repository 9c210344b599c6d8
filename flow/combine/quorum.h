#pragma once
// Quorum: a future that is ready when a given number of other futures are ready. It is the base of all(), some() and
// the operators && and ||, which programs use instead (flow/combine/all.h).
//
//     Future<Void> two = quorumOf(replies, 2, Remaining::RunOn);
//     Future<Void> either = quorumOf(1, Remaining::Released, WaitInput(reply), WaitInput(limit));
//
// A quorum makes one allocation: a frame with a branch for each input. The frame is not an Operation, because it stays
// after the result is ready: the other inputs run on as long as the result is held.

#include "flow/wait/detail/pending.h"

#include <concepts>
#include <type_traits>
#include <vector>

namespace flow {

/// What happens to the inputs that are not ready when the result is decided.
enum class Remaining : std::uint8_t { RunOn, Released };

/// What an error of an input does: it decides the result, or counts like a value.
enum class Errors : bool { Decide, CountAsReady };

namespace combine {
[[gnu::cold]] Error tooFew(std::size_t count, std::size_t operands);
} // namespace combine

namespace detail {

/// The frame of a quorum. Behind it in memory is a group of branches, one for each input that is not ready at the call.
/// The result is decided when `needed` inputs have values. `spare` errors are ignored; the next error decides the
/// result. If `indifferent`, each error counts as a value. The frame stays until no branch is parked.
class QuorumFrame : public Waiter {
public:
    /// Makes the future of the result. The frame holds the inputs that are not ready; the caller keeps its references.
    static Future<Void> make(Cell* const* inputs, std::size_t count, std::size_t needed, Remaining remaining,
                             bool indifferent = false, std::size_t spare = 0);

private:
    static QuorumFrame& of(Cell* cell) { return *static_cast<QuorumFrame*>(cell->frame()); }
    static void resumeCancelled(Waiter* frame);
    static void fire(Waiter* branch);
    /// The slow part of fire(): for errors, for the deciding input, and for later inputs. Returns the next waiter.
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

/// Returns the memory of the vector as an array of cells. A Future contains only a pointer to its cell.
template <class T>
Cell* const* cellsOf(std::vector<Future<T>> const& futures, Caller caller) {
    static_assert(sizeof(Future<T>) == sizeof(Cell*) && std::is_standard_layout_v<Future<T>>);
    for (Future<T> const& future : futures)
        validCell(future, caller);
    return reinterpret_cast<Cell* const*>(futures.data());
}

} // namespace detail

/// The parameter type of && and ||: a Future, or a value that converts to Future<Void>, such as a delay. The conversion
/// records the place of the call. A WaitInput is valid during that call.
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

/// quorumOf() for a vector. Ignores `spare` errors; the next one fails the result. CountAsReady: errors are values.
template <class T>
Future<Void> quorumOf(std::vector<Future<T>> const& futures, std::size_t needed, Remaining remaining,
                      Errors errors = Errors::Decide, detail::Caller caller = detail::Caller(), std::size_t spare = 0) {
    return detail::QuorumFrame::make(detail::cellsOf(futures, caller), futures.size(), needed, remaining,
                                     errors == Errors::CountAsReady, spare);
}

} // namespace flow
