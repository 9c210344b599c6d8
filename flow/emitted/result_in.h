#pragma once
// ResultIn<S>: the result type of an actor, named once in a struct S that actorc emits in front of the actor. If C++
// does not know this type, the struct still has a type, so that compilers report no further errors in the emitted code.
// Programs do not use it.
//
//     struct FActorResult__ : Result__ { using type__ = Reply; };
//     Frame<ResultIn<FActorResult__>>

namespace flow::actor {

/// A type in place of one that C++ does not know: it fits everywhere, and its functions are not defined.
struct Unknown {
    template <class... Args>
    Unknown(Args&&...);
    template <class T>
    operator T() const;
};

/// The base of the structs S. Its names end in `__`, since users' types are looked up in the derived structs.
struct Result__ {
    using type__ = Unknown;
};

template <class S>
using ResultIn = typename S::type__;

} // namespace flow::actor
