#pragma once
// The tree of tasks, for reports. flow/tasks/tree.cpp defines both functions; without tasks, their addresses are null.

#include "flow/core/cell.h"

#include <functional>

namespace flow::detail {

/// Returns the nearest ancestor of a task that is a task itself: scopes are skipped. Null if there is none.
[[gnu::weak]] Waiter* parentOfTask(Waiter const* task);

/// Selects children of a task: all children, or only those that the task waits for now.
enum class Children { All, Awaited };
/// Calls visit for each selected child of the task, also for children in the scopes of the task.
[[gnu::weak]] void forEachChild(Waiter const* task, Children which, std::function<void(Waiter*)> const& visit);

} // namespace flow::detail
