#include "discount.actor.h"
#include "shop.h"
#include "store/table.actor.h"

#include <cstdio>

#include "flow/actorcompiler.h"

namespace work {
ACTOR static flow::Future<int> helper(int x) {
    wait(flow::delay(1));
    return x;
}
}

ACTOR flow::Future<flow::Void> shop(store::Table* table) {
    state int price = wait(store::Table::price(table));
    state int twice = wait(store::Table::doubled(table));
    state int tax = wait(store::tax(twice));
    state int sum = wait(store::plus(store::half(price), tax));
    int less = wait(discounted(sum));
    std::printf("%d %d %d %d %d\n", price, twice, tax, sum, less);
    return flow::Void();
}

int main() {
    flow::SimLoop sim;
    store::Table table;
    sim.run(shop(&table));
    std::printf("plain %d\n", pricesInPlain(sim));
    std::printf("helpers %d %d\n", sim.run(work::helper(4)), sim.run(helperInOther(4)));
    auto here = reinterpret_cast<Template>(store::plus<int>);
    std::printf("one template %d\n", here == templateInOther() && here == templateInPlain());
}
