#pragma once
// The tree of tasks, as reports read it. flow/tasks/tree.cpp defines both functions. In a program without tasks
// their addresses are null.

#include "flow/core/cell.h"

#include <functional>

namespace flow::detail {

/// Returns the nearest ancestor of a task that is a task itself: scopes are skipped. Null if there is none.
[[gnu::weak]] Waiter* parentOfTask(Waiter const* task);

/// Selects children of a task: all, or only the children for which the task waits to end.
enum class Children { All, Awaited };
/// Calls visit for each of these children, also within scopes.
[[gnu::weak]] void forEachChild(Waiter const* task, Children which, std::function<void(Waiter*)> const& visit);

} // namespace flow::detail
