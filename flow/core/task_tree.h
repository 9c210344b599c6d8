#pragma once
// What reports read from the tree of tasks. flow/structured defines these two (tree.cpp); a program without tasks does
// not have them, and their addresses are null.

#include "flow/core/cell.h"

#include <functional>

namespace flow::detail {

/// The task of which a task is a child, not that of a scope; null if there is none.
[[gnu::weak]] Waiter* parentOfTask(Waiter const* task);

/// Which children of a task: all, or those for the end of which it waits.
enum class Children { All, Awaited };
/// Calls visit for each, also within scopes.
[[gnu::weak]] void forEachChild(Waiter const* task, Children which, std::function<void(Waiter*)> const& visit);

} // namespace flow::detail
