// A file that does not go through actorc.
#include "shop.h"
#include "store/table.actor.h"

int pricesInPlain(flow::Loop& loop) {
    int state = 0, choose = 1, when = 2; // the header keeps its keywords to itself
    store::Table table;
    return loop.run(store::plus(store::Table::doubled(&table), store::half(8).isReady() + state + choose + when)) +
           loop.run(store::tax(100));
}

Template templateInPlain() {
    return reinterpret_cast<Template>(store::plus<int>);
}
