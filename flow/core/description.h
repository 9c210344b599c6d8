#pragma once
// Description: the text about an operation in a report about pending computations.
//
//     struct Accept {                                         // an operation: flow/core/in_place.h or operation.h
//         void describe(Description& out) const { out.text = "a connection at " + toText(listener->address()); }
//         ...
//     };
//
// describe() is optional: without it, the report shows the name of the type. The report finds describe() by its name in
// the program's symbol table, so describe() makes an operation neither larger nor slower. describe() must not change
// anything.

#include <cstdint>
#include <string>

namespace flow {

struct Description {
    std::string text;
    /// For a wait for a lock: the address by which a report finds the holders of the lock. Each holder stores this
    /// address, and behind it a count from 1 to `mostHeld`, as FlowLock::Releaser does (flow/compat/flow_lock.h). If
    /// the address is odd, only holders store it, and no count is needed. If `mostHeld` is 0, each computation that
    /// stores the address is shown as one that may end the wait. If `lock` is null, the report names no holders.
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
