#pragma once
// ResultIn<S>: the result type of an actor, named once in a struct S that actorc emits in front of the actor. Where C++
// does not know that type, the struct still has one, so that compilers report no further errors in the emitted code.
// Programs do not use it.
//
//     struct FActorResult__ : Result__ { using type__ = Reply; };
//     Frame<ResultIn<FActorResult__>>

namespace flow::actor {

/// In place of a type that C++ does not know: it fits everywhere, and nothing defines it.
struct Unknown {
    template <class... Args>
    Unknown(Args&&...);
    template <class T>
    operator T() const;
};

/// Its names end in `__`, since users' types are looked up in structs that are derived from it.
struct Result__ {
    using type__ = Unknown;
};

template <class S>
using ResultIn = typename S::type__;

} // namespace flow::actor
