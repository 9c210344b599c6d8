#pragma once
// reportOverflows(): prints a message when a fiber touches the guard pages below its stack.

namespace flow::fiber::detail {

/// Makes this thread report an overflow of the running fiber's stack: prints one message, and then the signal ends the
/// program as usual. Other faults go to the SIGSEGV handler that was installed before. A handler that is installed
/// later must call the handler that it replaces, as usual. Throws std::bad_alloc.
void reportOverflows();

} // namespace flow::fiber::detail
