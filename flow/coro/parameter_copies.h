#pragma once
// callWithCopies: calls the coroutine of an actor that has a parameter pack. C++ copies the parameters before the body
// runs: if a copy throws, the actor fails with this exception. Emitted code uses this function; programs do not.
//
//     struct FActor { static Future<int> run(Ts... values) { ... co_return 1; } };
//     return callWithCopies(FActor::run, values...);

#include "flow/coro/coroutine.h"

#include <utility>

namespace flow::coro {

template <class Result, class... Parameters, class... Args>
Result callWithCopies(Result (*run)(Parameters...), Args&&... args) {
    try {
        return run(std::forward<Args>(args)...);
    } catch (...) {
        return flow::detail::failedByCaught<typename Result::Element>();
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
