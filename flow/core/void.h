#pragma once
// Void: the value of a future that only says "done". Never: converts to a future that is never ready.
//
//     Future<Void> done = Void();
//     Future<int> nothing = Never();

namespace flow {

struct Void {
    friend constexpr bool operator==(Void, Void) { return true; }
};

struct Never {};

} // namespace flow
