#pragma once
// What is left of the stack. For code that nests as deep as its data: it stops in time and goes on from further up.

namespace flow {

/// Whether less than a quarter of this thread's stack is left. Also true on a stack that is not the thread's own, such
/// as a fiber's, of which nothing is known.
bool stackIsShort() noexcept;

} // namespace flow
