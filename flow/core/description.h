#pragma once
// Description: the text about an operation in a report about pending computations.
//
//     struct Accept {                                         // an operation: flow/core/in_place.h or operation.h
//         void describe(Description& out) const { out.text = "a connection at " + toText(listener->address()); }
//         ...
//     };
//
// describe() is optional: without it, the report shows the name of the type. The report finds describe() by its name in
// the symbol table, so describe() makes an operation neither larger nor slower. describe() must not change anything.

#include <cstdint>
#include <string>

namespace flow {

struct Description {
    std::string text;
    /// The lock for which the operation waits; if it is null, a report names no holders. A report searches all frames
    /// for this address. A frame holds the lock if the word after the address is a count from 1 to `mostHeld`, as in
    /// FlowLock::Releaser (flow/compat/flow_lock.h). An odd address needs no count, because only holders store it. If
    /// `mostHeld` is 0, the report shows each computation that stores the address as one that may end the wait.
    void const* lock = nullptr;
    std::int64_t mostHeld = 0;
};

template <class Op>
concept Describes = requires(Op const& op, Description& out) { op.describe(out); };

namespace detail {
using Describe = void (*)(void const* op, Description& out);

/// `static_assert(kEmitted<&f>)` makes the compiler emit f although no code calls f: reports find f by its name.
template <Describe>
inline constexpr bool kEmitted = true;
} // namespace detail

} // namespace flow
