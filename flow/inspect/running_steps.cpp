#include "flow/inspect/running_steps.h"

#include "flow/base/format.h"
#include "flow/diag/detail/program_call.h"
#include "flow/diag/detail/symbol.h"
#include "flow/diag/machine_stack.h"
#include "flow/inspect/detail/signal_sampler.h"

#include <string_view>
#include <unistd.h>

namespace flow {

std::string SampledStep::actor() const {
    char name[160];
    actorNameAt(step.code, name, sizeof name);
    return name;
}

std::string SampledStep::function() const {
    return findProgramCall(stack.data(), static_cast<int>(stack.size()), false).function;
}

std::string SampledStep::text() const {
    constexpr std::size_t kShown = 24;
    std::string out =
        format("the loop %s has run a step of %s for %.3g s", loop.c_str(), actor().c_str(), step.seconds);
    ProgramCall call = findProgramCall(stack.data(), static_cast<int>(stack.size()), true);
    if (!call.function.empty())
        out += ", now in " + call.function;
    if (!call.place.empty())
        out += " at " + call.place;
    out += '\n';
    std::size_t named = stack.size(); // the innermost function with a symbol: libc's have none
    for (std::size_t i = 0; i < stack.size() && i < kShown; ++i) {
        char name[400];
        symbolName(static_cast<char const*>(stack[i]) - 1, name, sizeof name);
        out += format("  %zu %s\n", i, name);
        if (named == stack.size() && !std::string_view(name).starts_with("0x"))
            named = i;
    }
    std::size_t first = named == stack.size() ? 0 : named;
    std::string command = machineStack(stack.data() + first, stack.size() - first);
    return command.empty() ? out : out + "  " + command + '\n';
}

std::vector<SampledStep>
sampleRunningSteps(std::function<bool(LoopMetrics const&, RunningStep const&)> const& isWanted) {
    std::vector<SampledStep> found;
    int self = ::gettid(); // nondeterminism: no simulated loop is shared
    LoopMetrics::forEachShared([&](LoopMetrics const& loop) {
        std::optional<RunningStep> step = loop.running();
        if (!step || !isWanted(loop, *step))
            return;
        found.push_back({loop.name(), *step, {}});
        if (loop.thread() != self)
            found.back().stack = sampleStack(loop.thread()); // the thread exists as long as its LoopMetrics
    });
    return found;
}

std::string runningSteps() {
    std::string out;
    for (SampledStep const& each : sampleRunningSteps([](LoopMetrics const&, RunningStep const&) { return true; }))
        out += each.text();
    return out.empty() ? "no loop with a LoopMetrics runs a step\n" : out;
}

} // namespace flow
