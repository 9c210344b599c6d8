#include "flow/trace/process_metrics.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <unistd.h>

using namespace flow;

namespace process_metrics_test {
namespace {

double valueOf(std::string const& page, std::string const& name) {
    std::size_t at = page.find("\n" + name + " ");
    return at == page.npos ? -1 : std::strtod(page.c_str() + at + name.size() + 2, nullptr);
}

} // namespace

TEST_CASE("process metrics: descriptors, memory and times, by the names of Prometheus' libraries") {
    std::string before = processText();
    int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    std::string page = processText();
    ::close(descriptor);
    CHECK(valueOf(page, "process_open_fds") == valueOf(before, "process_open_fds") + 1);
    CHECK(valueOf(page, "process_max_fds") >= valueOf(page, "process_open_fds"));
    CHECK(valueOf(page, "process_resident_memory_bytes") > 4096);
    CHECK(valueOf(page, "process_virtual_memory_bytes") > valueOf(page, "process_resident_memory_bytes"));
    CHECK(valueOf(page, "process_threads") >= 1);
    CHECK(valueOf(page, "process_cpu_seconds_total") >= 0);
    CHECK(valueOf(page, "millrace_uptime_seconds") >= 0);
    double now = static_cast<double>(std::time(nullptr));
    CHECK(valueOf(page, "process_start_time_seconds") <= now + 2);
    CHECK(valueOf(page, "process_start_time_seconds") > now - 86400);
    CHECK(valueOf(page, "millrace_process_blocks_bytes") >= 0);
    CHECK(page.find("\nmillrace_build_info{version=\"") != page.npos);
    CHECK(page.find("\",compiler=\"") != page.npos);
}

} // namespace process_metrics_test
