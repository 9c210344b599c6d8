// Classes of Flow's that are declared at file scope, and others that may be.
template <class T>
class Future;
class Void;
struct StringRef;
class Own;
namespace other {
class Arena;
}
#include "flow/flow.h"
#include "flow/actorcompiler.h"

class Void own();

ACTOR Future<Void> f(Future<Void> x) {
    wait(x);
    return Void();
}
