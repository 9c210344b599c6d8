#include "discount.actor.h"
#include "shop.h"
#include "store/table.actor.h"

#include "flow/actorcompiler.h"

// The other file has a helper of this name in this namespace, which is another one.
namespace work {
ACTOR static flow::Future<int> helper(int x) {
    state int first = wait(store::half(x));
    state int second = wait(discounted(first));
    wait(flow::delay(1));
    return 1000 + first + second;
}
}

flow::Future<int> helperInOther(int x) { return work::helper(x); }
Template templateInOther() { return reinterpret_cast<Template>(store::plus<int>); }
