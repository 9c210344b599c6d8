#pragma once
// What coroutines use, under the old header name and the old names:
//
//     ErrorOr<int> answer = co_await coro::errorOr(ask());     // never throws
//     co_await coro::ignore(goodbye());                        // neither its value nor its error is of interest

#include "../../flow.h"

using flow::race;
using flow::Uncancellable;

namespace flow::coro {

template <class T>
auto errorOr(Future<T> what) {
    return tryGet(std::move(what));
}
template <class T>
auto ignore(Future<T> what) {
    return coro::errorOr(std::move(what));
}

} // namespace flow::coro

namespace coro = flow::coro;
