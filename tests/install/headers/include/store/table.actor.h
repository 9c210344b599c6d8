// Both guards: the build is sent to the generated header, an editor reads on.
#if defined(NO_INTELLISENSE) && !defined(STORE_TABLE_ACTOR_G_H)
#define STORE_TABLE_ACTOR_G_H
#include "store/table.actor.g.h"
#elif !defined(STORE_TABLE_ACTOR_H)
#define STORE_TABLE_ACTOR_H

#include "flow/flow.h"
#include "row.h" // beside this file

#include "flow/actorcompiler.h" // must be the last include

namespace store {

class Table {
public:
    // A member is inline, as in C++.
    ACTOR static flow::Future<int> price(Table* self) {
        wait(flow::delay(1));
        return self->row_.price;
    }
    ACTOR static flow::Future<int> doubled(Table* self);

private:
    Row row_;
};

// A template may stand in a header.
ACTOR template <class T>
flow::Future<T> plus(flow::Future<T> a, T b) {
    state T first = wait(a);
    wait(flow::delay(1));
    return first + b;
}

// So may a static actor: each file has its own.
ACTOR static flow::Future<int> half(int x) {
    wait(flow::delay(1));
    return x / 2;
}

// Anything else is declared here, and defined in one file.
ACTOR flow::Future<int> tax(int price, int percent = 20);

}

#include "flow/unactorcompiler.h"
#endif
