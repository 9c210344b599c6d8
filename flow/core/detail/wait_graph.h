#pragma once
// describeWaiting(): lists the unfinished actors of a hanging simulation, and the object for which each actor waits.

#include "flow/core/detail/live_blocks.h"

#include <functional>
#include <string>

namespace flow {

/// Describes the object at an address: a cell without an actor, or an operation in place. May return "".
using CellSource = std::function<std::string(void const*)>;
/// Returns one line for each unfinished actor, oldest first, as in
///
///     lead waits for replicate
///     replicate waits for one of: a promise that 2 hold, a timer at 3.5
///     heartbeat waits for a timer at 12.5
///     receive waits for bytes from server at 2.0.0.1:80
std::string describeWaiting(CellGroup const& cells, CellSource const& source = {});

} // namespace flow
