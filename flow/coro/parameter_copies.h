#pragma once
// callWithCopies: calls a coroutine so that C++ copies its parameters before its body runs, as it must for a pack.
// Emitted code uses it; programs do not.
//
//     struct FActor { static Future<int> run(Ts... values) { ... co_return 1; } };
//     return callWithCopies(FActor::run, values...);

#include "flow/coro/coroutine.h"

#include <utility>

namespace flow::coro {

/// Calls `run`. An exception from a copy fails the actor, as with any other parameter. An exception from the body of
/// the coroutine is in its result already.
template <class Result, class... Parameters, class... Args>
Result callWithCopies(Result (*run)(Parameters...), Args&&... args) {
    try {
        return run(std::forward<Args>(args)...);
    } catch (...) {
        return Result(currentError());
    }
}

template <class... Parameters, class... Args>
Detached callWithCopies(Detached (*run)(Parameters...), Args&&... args) {
    try {
        return run(std::forward<Args>(args)...);
    } catch (...) {
        reportDroppedError(reinterpret_cast<const void*>(run), currentError());
        return {};
    }
}

} // namespace flow::coro
