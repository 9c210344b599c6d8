#pragma once
// Description: what an operation says about itself in a report about pending computations.
//
//     struct Accept {                                         // an operation in place, or an owning one
//         void describe(Description& out) const { out.text = "a connection at " + toText(listener->address()); }
//         ...
//     };
//
// describe() is optional: without it the report has the name of the type. It is found by its name in the program's
// symbol table, so that an operation that has it is as large and as fast as one without. It must change nothing.

#include <cstdint>
#include <string>

namespace flow {

struct Description {
    std::string text;
    /// Of a lock: the object to which each holder has a pointer, with a count from 1 to `mostHeld` behind that, as a
    /// FlowLock::Releaser has. An odd address: what holders have, and only they, with or without a count. With a
    /// `mostHeld` of 0 all that have the address are shown, as what may end the wait. Null: holders cannot be found.
    void const* lock = nullptr;
    std::int64_t mostHeld = 0;
};

template <class Op>
concept Describes = requires(Op const& op, Description& out) { op.describe(out); };

namespace detail {
using Describe = void (*)(void const* op, Description& out);

/// Asserted where a describing function is to be emitted that nothing calls: it is found by its name.
template <Describe>
inline constexpr bool kEmitted = true;
} // namespace detail

} // namespace flow
