#pragma once
// Faults that a simulation injects, under the old header name.
//
//     INJECT_FAULT(io_error, "readPage");                 // throws io_error, now and then
//     if (SHOULD_INJECT_FAULT("answer"))
//         return;                                         // what if there were no answer?
//
// Each place is a site of buggify() (flow/base/buggify.h): a run arms a quarter of them. The thrown error is marked as
// an injected fault. Each injection is an event "FaultInjected" of SevWarn.

#include "../../base/buggify.h"
#include "../../flow.h"

#include <atomic>
#include <source_location>

/// True if simulations inject faults at these sites.
inline constinit std::atomic<bool> faultInjectionActivated{true};
inline void enableFaultInjection(bool enabled) {
    faultInjectionActivated = enabled;
}

namespace flow::compat {

inline bool injectsFault(char const* context, int errorCode,
                         std::source_location where = std::source_location::current()) {
    if (!faultInjectionActivated || !buggify(where))
        return false;
    TraceEvent(SevWarn, "FaultInjected")
        .detail("Context", context)
        .detail("File", where.file_name())
        .detail("Line", where.line())
        .detail("ErrorCode", errorCode);
    return true;
}

} // namespace flow::compat

#define SHOULD_INJECT_FAULT(context) (::flow::compat::injectsFault(context, 0))
#define INJECT_FAULT(error_type, context)                                                                              \
    do {                                                                                                               \
        if (::flow::compat::injectsFault(context, error_type().code()))                                                \
            throw error_type().asInjectedFault();                                                                      \
    } while (false)
