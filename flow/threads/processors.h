#pragma once
// The processors that a program may use for loops.
//
//     LoopPool loops(usableProcessors());

#include <optional>
#include <string_view>
#include <vector>

namespace flow {

/// Returns the numbers of the processors on which this process may run, as set by taskset or a cpuset.
std::vector<int> allowedProcessors();

/// Returns the processors that a cgroup's file cpu.max grants: 1.5 for "150000 100000"; nothing for other text.
std::optional<double> processorsOfCpuMax(std::string_view text);

/// Returns the number of allowed processors, but at most the whole processors that cpu.max of this process's cgroup
/// (v2) and of its parents grant; at least 1. So busy loops are not throttled.
int usableProcessors();

} // namespace flow
