#pragma once
// The number of processors for which a program should start loops, and the processors to which it may pin them.
//
//     LoopPool loops(usableProcessors());

#include <optional>
#include <string_view>
#include <vector>

namespace flow {

/// Returns the numbers of the processors on which this process may run, as taskset or a cpuset allow it.
std::vector<int> allowedProcessors();

/// Returns how many processors the file cpu.max of a cgroup grants: 1.5 for "150000 100000". Nothing for "max",
/// which is no limit, and for another text.
std::optional<double> processorsOfCpuMax(std::string_view text);

/// Returns the number of allowed processors, but at most the whole processors that cpu.max of this process's cgroup
/// (v2), and of those above it, grant; at least 1. So the loops are not throttled when all are busy.
int usableProcessors();

} // namespace flow
