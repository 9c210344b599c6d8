// The keywords of actors, as C++ for editors. This must be the last include of an .actor.cpp file.
//
//     #include "flow/flow.h"
//     #include "flow/actorcompiler.h"
//
//     ACTOR Future<int> twice(Future<int> x) { int v = wait(x); return 2 * v; }
//
// The build defines NO_INTELLISENSE, and actorc translates the keywords. A wait where none is allowed, or in a file
// without actorc, calls a deleted function below: a compile error.

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
#else // declared for editors, which show their result types; never called
namespace flow::editor {
/// True if a T and its template arguments can be copied. std::is_copy_constructible is true for any vector.
template <class T>
inline constexpr bool isCopied = std::is_copy_constructible_v<T>;
template <template <class...> class C, class... T>
inline constexpr bool isCopied<C<T...>> = std::is_copy_constructible_v<C<T...>> && (... && isCopied<T>);

/// The result type of wait(), for editors. For a T that can be copied it is T&: `auto& x = wait(f)` is right, because
/// the awaited object stays alive. For a move-only T it is T.
template <class T>
using Result = std::conditional_t<isCopied<T>, T&, T>;

/// The result of a wait for a Never. It converts to any type, since this wait never ends.
struct Anything {
    template <class T>
    operator T() const;
};
} // namespace flow::editor
template <class T>
flow::editor::Result<T> wait(flow::Future<T> const&);
template <flow::InPlace Op>
typename Op::Result wait(Op);
template <class Awaitable> // a task, a fork or a race: has a body, since the type of a lambda may be in its own type
    requires requires(Awaitable&& awaitable) { static_cast<Awaitable&&>(awaitable).future(); }
flow::editor::Result<typename std::remove_cvref_t<Awaitable>::Element> wait(Awaitable&&) {
    __builtin_unreachable();
}
flow::Void wait(flow::Delay);
flow::Void wait(flow::Yield);
flow::editor::Anything wait(flow::Never);
template <class T>
flow::editor::Result<T> waitNext(flow::FutureStream<T> const&);
#endif
#endif

#include "flow/actor/keywords.h"
