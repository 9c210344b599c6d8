#pragma once
// The lines of the waits in actors that actorc emits as state machines. The frame has the number of its suspension, and
// a table has the line of each suspension. flow/inspect and the scripts of `millrace debugger` read both.

#include "flow/core/cell.h"

#include <cstdint>

namespace flow::actor {

class NumberedFrame : public detail::Waiter {
public:
    /// Returns the number of the suspension from which the actor continues; 0 at the start.
    int entry() const { return entry_; }

protected:
    std::int32_t entry_;
};

/// The lines at which an actor suspends: the line of its declaration, then the line of each suspension, by number.
template <std::size_t N>
struct WaitLines {
    char const* file;
    std::uint32_t count;
    std::uint32_t lines[N == 0 ? 1 : N];
};
template <class... Lines>
constexpr WaitLines<sizeof...(Lines)> waitLines(char const* file, Lines... lines) {
    return {file, sizeof...(Lines), {static_cast<std::uint32_t>(lines)...}};
}
#define FLOW_WAITS(...)                                                                                                \
    static constexpr auto waits__() {                                                                                  \
        return ::flow::actor::waitLines(__FILE__, __VA_ARGS__);                                                        \
    }
/// Returns the table of a state that actorc has emitted; an empty table for other types.
template <class S>
constexpr auto waitLinesOf() {
    if constexpr (requires { S::waits__(); })
        return S::waits__();
    else
        return waitLines("");
}

} // namespace flow::actor
