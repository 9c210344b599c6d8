#include "flow/threads/processors.h"

#include "flow/base/parse_number.h"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <string>
#include <thread>

namespace flow {
namespace {

/// Returns the path of this process's cgroup (v2), such as "/user.slice". Returns "" if there is none.
std::string ownCgroup() {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);)
        if (line.starts_with("0::"))
            return line.substr(3);
    return "";
}

} // namespace

std::vector<int> allowedProcessors() {
    std::vector<int> allowed;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0)
        for (int i = 0; i < CPU_SETSIZE; ++i)
            if (CPU_ISSET(i, &set))
                allowed.push_back(i);
    if (allowed.empty())                                                   // more processors than fit into a cpu_set_t
        for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) // nondeterminism: for pools of loops
            allowed.push_back(static_cast<int>(i));
    return allowed;
}

std::optional<double> processorsOfCpuMax(std::string_view text) {
    std::size_t space = text.find(' ');
    if (space == std::string_view::npos)
        return std::nullopt;
    std::string_view period = text.substr(space + 1);
    auto granted = parseNumber<double>(text.substr(0, space));
    auto of = parseNumber<double>(period.substr(0, period.find('\n')));
    return granted && of && *granted > 0 && *of > 0 ? std::optional(*granted / *of) : std::nullopt;
}

int usableProcessors() {
    auto most = static_cast<double>(allowedProcessors().size());
    for (std::string group = ownCgroup();; group.resize(group.rfind('/'))) {
        std::string text;
        std::ifstream limit("/sys/fs/cgroup" + group + "/cpu.max");
        if (std::getline(limit, text))
            most = std::min(most, processorsOfCpuMax(text).value_or(most));
        if (group.find('/') == std::string::npos)
            break;
    }
    return std::max(1, static_cast<int>(most));
}

} // namespace flow
