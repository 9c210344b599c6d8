#pragma once
// ResultIn<S>: the type of an actor's result. actorc emits it once, in a struct S in front of the actor. If this type
// does not exist, ResultIn<S> is the type Unknown from the base of S, so that compilers report no further errors.
//
//     struct FActorResult__ : Result__ { using type__ = Reply; };
//     Frame<ResultIn<FActorResult__>>

namespace flow::actor {

/// A type that replaces a type that C++ does not know. It converts from and to all types; its functions have no body.
struct Unknown {
    template <class... Args>
    Unknown(Args&&...);
    template <class T>
    operator T() const;
};

/// The base of the structs S. Its names end in `__`: then they hide no type of the user inside a derived struct.
struct Result__ {
    using type__ = Unknown;
};

template <class S>
using ResultIn = typename S::type__;

} // namespace flow::actor
