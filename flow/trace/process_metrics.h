#pragma once
// processText: the figures of the whole process, for Prometheus.
//
//     std::string page = mergePrometheus({metrics::text(), processText()});
//
//     millrace_build_info{version="0.1.0",compiler="clang 19.1.7",checked="false"} 1
//     millrace_uptime_seconds 3600.25
//     millrace_process_blocks_bytes 1048576               # held by the allocator, for all threads
//     process_open_fds 24
//     process_resident_memory_bytes 9043968
//     process_start_time_seconds 1796040000.25
//
// Prometheus' client libraries use the same names process_*: cpu_seconds_total, max_fds, open_fds,
// resident_memory_bytes, start_time_seconds, threads and virtual_memory_bytes. Figures that the system does not give
// are left out. console::servePrometheus() (net/console.h) has this page too. Thread-safe; only reads files of /proc.

#include <string>

namespace flow {

/// Returns the page. Throws std::bad_alloc.
std::string processText();

} // namespace flow
