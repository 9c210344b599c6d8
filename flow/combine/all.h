#pragma once
// all(), some(), && and ||: wait for several operands together.
//
//     auto [page, user] = co_await all(loadPage(key), loadUser(id));      // a tuple of the values
//     std::vector<Row> rows = co_await all(reads);                        // the values of a range of operands
//     std::vector<Winner<Row>> two = co_await some(2, reads);             // the two that come first, with indices
//
// all() and some() take everything that can be waited for (flow/wait/operand.h), in a coroutine, an actor, a fiber or a
// task. All operands run at the same time. A value is moved if no other future refers to it or if it cannot be copied;
// otherwise it is copied. The first error fails all(). some() ignores errors until too few operands are left, and then
// fails with the last error. When the result is decided, the other operands are released before its waiter runs; an
// operation or a stream that is not ready by then has given nothing. If an operand decides the result during the call,
// the operands behind it do not begin. If the result fails or is dropped, the values that have come are lost.
//
// The operators and success() take only futures, and their result has no value:
//
//     wait(save() && send());               // both
//     wait(reply || delay(1.0));            // either
//     wait(success(reply));                 // until `reply` has a value, which is not returned
//
// Each of these makes one allocation. The result of && and success() holds the inputs that are not ready, even when the
// result itself is ready. So these inputs run on until the result is dropped, and its waiter may wait for them; but &&
// of a future that has failed already does not hold the other one. `||` releases the other input as soon as the result
// is decided, before its waiter runs. Cancel-safe: dropping the result releases the inputs, and cancels those that
// nothing else holds. For Flow's waitForAll() see flow/compat/.

#include "flow/combine/detail/decided.h"
#include "flow/wait/race_result.h"

#include <source_location>
#include <tuple>
#include <vector>

namespace flow {

namespace combine {
template <class... X>
Future<std::tuple<AwaitedValue<X>...>> allOf(std::source_location caller, X&... operands) {
    bool hasFailed = false;
    auto begin = [&](auto& operand) -> Future<AwaitedValue<decltype(operand)>> {
        if (hasFailed)
            return actor_cancelled();
        checkValid(operand, caller);
        auto made = combine::futureOf(std::move(operand));
        hasFailed = made.isError();
        return made;
    };
    std::tuple<Future<AwaitedValue<X>>...> futures{begin(operands)...};
    Future<Void> decided =
        std::apply([](auto&... each) { return quorumOf(sizeof...(X), Remaining::RunOn, WaitInput(each)...); }, futures);
    return combine::whenDecided(
        [](auto& made) {
            return std::apply(
                [](auto&... each) { return std::tuple<AwaitedValue<X>...>(std::move(each).takeValue()...); }, made);
        },
        std::move(futures), std::move(decided));
}
} // namespace combine

/// Returns the values of all operands. Fails with the first error.
template <CanBeAwaited... X>
    requires(sizeof...(X) != 0)
Future<std::tuple<AwaitedValue<X>...>> all(X... operands) {
    return combine::allOf({}, operands...);
}
// Overloads for one to three operands have a parameter `caller`, so that an assertion names the place of the call.
template <CanBeAwaited A>
Future<std::tuple<AwaitedValue<A>>> all(A a, std::source_location caller = std::source_location::current()) {
    return combine::allOf(caller, a);
}
template <CanBeAwaited A, CanBeAwaited B>
Future<std::tuple<AwaitedValue<A>, AwaitedValue<B>>>
all(A a, B b, std::source_location caller = std::source_location::current()) {
    return combine::allOf(caller, a, b);
}
template <CanBeAwaited A, CanBeAwaited B, CanBeAwaited C>
Future<std::tuple<AwaitedValue<A>, AwaitedValue<B>, AwaitedValue<C>>>
all(A a, B b, C c, std::source_location caller = std::source_location::current()) {
    return combine::allOf(caller, a, b, c);
}
template <OperandRange R, class T = AwaitedValue<OperandIn<R>>>
FLOW_INLINE Future<std::vector<T>> all(R operands, std::source_location caller = std::source_location::current()) {
    auto&& futures = combine::futuresOf(operands, std::size(operands), 0, caller);
    Future<Void> decided = quorumOf(futures, futures.size(), Remaining::RunOn, Errors::Decide, caller);
    return combine::whenDecided(
        [](auto& made) {
            std::vector<T> values;
            values.reserve(made.size());
            for (auto& each : made)
                values.push_back(std::move(each).takeValue());
            return values;
        },
        std::move(futures), std::move(decided));
}
/// Returns the `count` values that come first, sorted by the indices of their operands. Fails with
/// client_invalid_operation if there are fewer than `count` operands.
template <OperandRange R, class T = AwaitedValue<OperandIn<R>>>
Future<std::vector<Winner<T>>> some(std::size_t count, R operands,
                                    std::source_location caller = std::source_location::current()) {
    using Values = std::vector<Winner<T>>;
    if (count > std::size(operands))
        return combine::tooFew(count, std::size(operands));
    if (count == 0)
        return Values();
    std::size_t spare = std::size(operands) - count;
    auto&& futures = combine::futuresOf(operands, count, spare, caller);
    Future<Void> decided = quorumOf(futures, count, Remaining::Released, Errors::Decide, caller, spare);
    return combine::whenDecided(
        [count](auto& made) {
            Values values;
            values.reserve(count);
            for (std::size_t i = 0; values.size() < count; ++i)
                if (made[i].canGet())
                    values.emplace_back(i, std::move(made[i]).takeValue());
            return values;
        },
        std::move(futures), std::move(decided));
}

/// Waits until both futures have values. Fails with the first error. If one has failed before the call, the result does
/// not hold the other.
inline Future<Void> operator&&(WaitInput const& a, WaitInput const& b) {
    bool oneHasFailed = a.cell()->isError() != b.cell()->isError();
    return quorumOf(2, oneHasFailed ? Remaining::Released : Remaining::RunOn, a, b);
}

/// Waits until either future has a value or an error, and releases the other one. Fails if an error comes first.
inline Future<Void> operator||(WaitInput const& a, WaitInput const& b) {
    return quorumOf(1, Remaining::Released, a, b);
}

/// Waits until the future has a value. Fails with its error.
inline Future<Void> success(WaitInput const& future) {
    return quorumOf(1, Remaining::RunOn, future);
}

} // namespace flow
