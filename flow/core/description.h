#pragma once
// Description: the text about an operation in a report about pending computations.
//
//     struct Accept {                                         // an operation in place, or an owning one
//         void describe(Description& out) const { out.text = "a connection at " + toText(listener->address()); }
//         ...
//     };
//
// describe() is optional: without it the report has the name of the type. The report finds it by its name in the
// program's symbol table, so that an operation that has it is as large and as fast as one without. It must change
// nothing.

#include <cstdint>
#include <string>

namespace flow {

struct Description {
    std::string text;
    /// For a lock: the object to which each holder has a pointer, followed by a count from 1 to `mostHeld`, as in
    /// FlowLock::Releaser (flow/compat/flow_lock.h). An odd address is a mark that the holders have, and only they, with or without a count. With
    /// a `mostHeld` of 0, everything that has the address is shown as a possible end of the wait. Null: holders cannot
    /// be found.
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
