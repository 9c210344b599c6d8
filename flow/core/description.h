#pragma once
// Description: the text about an operation in a report about pending computations.
//
//     struct Accept {                                         // an operation in place, or an owning one
//         void describe(Description& out) const { out.text = "a connection at " + toText(listener->address()); }
//         ...
//     };
//
// describe() is optional: without it the report shows the name of the type. The report finds describe() by its name in
// the program's symbol table, so an operation that has it is as large and as fast as one without. describe() must
// change nothing.

#include <cstdint>
#include <string>

namespace flow {

struct Description {
    std::string text;
    /// For a wait for a lock: an address by which its holders are found. Each holder has a pointer to it, followed by a
    /// count from 1 to `mostHeld`, as in FlowLock::Releaser (flow/compat/flow_lock.h). If the address is odd, only
    /// holders have it, and no count is needed. If `mostHeld` is 0, everything that has the address is shown as a
    /// possible end of the wait. Null: holders cannot be found.
    void const* lock = nullptr;
    std::int64_t mostHeld = 0;
};

template <class Op>
concept Describes = requires(Op const& op, Description& out) { op.describe(out); };

namespace detail {
using Describe = void (*)(void const* op, Description& out);

/// `static_assert(kEmitted<&f>)` makes the compiler emit f, which nothing calls: reports find it by its name.
template <Describe>
inline constexpr bool kEmitted = true;
} // namespace detail

} // namespace flow
