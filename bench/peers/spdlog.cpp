// spdlog: an event as TraceEvent_file writes it, of the same length, by the sink for one thread.

#include "bench/run.h"

#include <memory>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

namespace {

constexpr char kPattern[] =
    R"({"DateTime":"%Y-%m-%dT%H:%M:%S.%fZ","Area":"bench","Severity":10,"Type":"Benchmark",%v})";

void writeToFile(bench::Run* run) {
    spdlog::logger logger("bench", std::make_shared<spdlog::sinks::basic_file_sink_st>("/dev/null"));
    logger.set_pattern(kPattern, spdlog::pattern_time_type::utc);
    while (run->next())
        logger.info(R"("Number":{},"Text":"{}")", 7, "abc");
}

const bench::PeerStyle style("spdlog", {{"TraceEvent_file", writeToFile}});

} // namespace
