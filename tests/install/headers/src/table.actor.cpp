#include "store/table.actor.h"

#include "flow/actorcompiler.h"

ACTOR flow::Future<int> store::Table::doubled(Table* self) {
    int price = wait(Table::price(self));
    return 2 * price;
}

ACTOR flow::Future<int> store::tax(int price, int percent) {
    wait(flow::delay(1));
    return price * percent / 100;
}
