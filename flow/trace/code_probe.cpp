#include "flow/trace/code_probe.h"

#include "flow/trace/trace_event.h"

#include <algorithm>
#include <cstring>

namespace flow {
namespace {

constinit CodeProbe* probes = nullptr;

int compare(CodeProbe const* a, CodeProbe const* b) {
    int order = std::strcmp(a->file(), b->file());
    return order != 0 ? order : a->line() - b->line();
}

} // namespace

CodeProbe::CodeProbe(const char* file, int line, const char* condition, const char* comment, const char* marks) noexcept
    : file_(file), line_(line), rare_(std::strstr(marks, "rare") != nullptr), condition_(condition), comment_(comment),
      next_(probes) {
    probes = this;
}

std::vector<CodeProbe const*> CodeProbe::all() {
    std::vector<CodeProbe const*> list;
    for (CodeProbe const* probe = probes; probe; probe = probe->next_)
        list.push_back(probe);
    std::sort(list.begin(), list.end(), [](auto* a, auto* b) { return compare(a, b) < 0; });
    return list;
}

std::vector<CodeProbe const*> CodeProbe::missed() {
    std::vector<CodeProbe const*> list = all(), missed;
    for (auto first = list.begin(); first != list.end();) {
        auto last = std::find_if(first, list.end(), [&](auto* probe) { return compare(*first, probe) != 0; });
        if (std::all_of(first, last, [](auto* probe) { return probe->hits() == 0 && !probe->isRare(); }))
            missed.push_back(*first);
        first = last;
    }
    return missed;
}

void CodeProbe::reportFirst() const {
    TraceEvent("CodeProbe")
        .detail("Comment", comment_)
        .detail("Condition", condition_)
        .detail("File", file_)
        .detail("Line", line_);
}

} // namespace flow
