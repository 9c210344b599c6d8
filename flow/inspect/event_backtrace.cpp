// Defines TraceEvent::backtrace() here, since flow/trace must not include flow/diag and flow/inspect.
#include "flow/diag/machine_stack.h"
#include "flow/inspect/async_stack.h"
#include "flow/loop/loop.h"
#include "flow/trace/trace_event.h"

namespace flow {

TraceEvent& TraceEvent::backtrace(std::string_view prefix) {
    if (!isEnabled())
        return *this;
    detail(std::string(prefix) + "Backtrace", machineStack());
    if (std::string chain = hasLoop() ? asyncStack() : std::string(); !chain.empty())
        detail(std::string(prefix) + "AsyncStack", chain);
    return *this;
}

} // namespace flow
