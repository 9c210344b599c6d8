#pragma once
// What coroutines use, under the old header name and the old names:
//
//     ErrorOr<int> answer = co_await coro::errorOr(ask());     // never throws
//     co_await coro::ignore(goodbye());                        // neither its value nor its error is of interest

#include "../../flow.h"

using flow::race;
using flow::Uncancellable;

// A namespace of its own and no alias, so that a program may have more names in it.
namespace coro {

template <class T>
auto errorOr(flow::Future<T> what) {
    return flow::tryGet(std::move(what));
}
template <class T>
auto ignore(flow::Future<T> what) {
    return ::coro::errorOr(std::move(what));
}

} // namespace coro
