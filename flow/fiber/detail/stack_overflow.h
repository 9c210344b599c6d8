#pragma once
// reportOverflows(): prints a message when a fiber touches the guard pages below its stack.

namespace flow::fiber::detail {

/// Makes this thread report overflows of the running fiber's stack: one message, then the signal ends the program as it
/// would have without this call. A handler that is installed already gets all other faults. A handler that is installed
/// later has to call the one that it replaces, as usual. Throws std::bad_alloc.
void reportOverflows();

} // namespace flow::fiber::detail
