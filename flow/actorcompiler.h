// The keyword view of actors for editors; must be the last include of an .actor.cpp file.
//
//     #include "flow/flow.h"
//     #include "flow/actorcompiler.h"
//
//     ACTOR Future<int> twice(Future<int> x) { int v = wait(x); return 2 * v; }
//
// In the build, which defines NO_INTELLISENSE, actorc reads the keywords itself. If a wait stands where no wait can, or
// if the file does not go through actorc, the call finds the deleted functions below and is a compile error.

#include "flow/core/in_place.h"
#include "flow/core/stream.h"
#include "flow/emitted/caught_exception.h"
#include "flow/emitted/descriptor.h"
#include "flow/emitted/range_state.h"
#include "flow/emitted/state_slot.h"
#include "flow/emitted/static_local.h"
#include "flow/wait/delay.h"

#include <cstdint>
#include <type_traits>

#ifndef FLOW_ACTORCOMPILER_WAITS
#define FLOW_ACTORCOMPILER_WAITS
#if defined(POST_ACTOR_COMPILER) || defined(NO_INTELLISENSE)
template <class T>
T wait(flow::Future<T> const&) = delete;
template <flow::InPlace Op>
void wait(Op) = delete;
void wait(flow::Delay) = delete;
void wait(flow::Yield) = delete;
void wait(flow::Never) = delete;
template <class T>
T waitNext(flow::FutureStream<T> const&) = delete;
#else // never called: they exist for the types in editors
namespace flow::editor {
/// True if a T can be copied, by its name: the standard's trait is true for a vector of elements that cannot be copied.
template <class T>
inline constexpr bool isCopied = std::is_copy_constructible_v<T>;
template <template <class...> class C, class... T>
inline constexpr bool isCopied<C<T...>> = std::is_copy_constructible_v<C<T...>> && (... && isCopied<T>);

/// The awaited object is kept, so that `auto& x = wait(f)` is right; `T x = wait(f)` is right too if T only moves.
template <class T>
using Result = std::conditional_t<isCopied<T>, T&, T>;

/// A Never is never ready, so that its result may have any type.
struct Anything {
    template <class T>
    operator T() const;
};
} // namespace flow::editor
template <class T>
flow::editor::Result<T> wait(flow::Future<T> const&);
template <flow::InPlace Op>
typename Op::Result wait(Op);
flow::Void wait(flow::Delay);
flow::Void wait(flow::Yield);
flow::editor::Anything wait(flow::Never);
template <class T>
flow::editor::Result<T> waitNext(flow::FutureStream<T> const&);
#endif
#endif

#include "flow/actor/keywords.h"
