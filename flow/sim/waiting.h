#pragma once
// Who waits for whom: the unfinished actors of a group, each with what it waits for, for the report about a simulation
// that hangs.

#include "flow/core/census.h"

#include <string>

namespace flow {

/// A line for each, oldest first, as in
///
///     lead waits for replicate
///     replicate waits for one of: a promise that 2 hold, a timer at 3.5
///     heartbeat waits for a timer at 12.5
std::string describeWaiting(detail::CellGroup const& cells);

} // namespace flow
