#pragma once
#if defined(NO_INTELLISENSE) && !defined(DISCOUNT_ACTOR_G_H)
#define DISCOUNT_ACTOR_G_H
#include "discount.actor.g.h"
#elif !defined(DISCOUNT_ACTOR_H)
#define DISCOUNT_ACTOR_H

#include "flow/sim.h"
#include "flow/actorcompiler.h"

ACTOR static flow::Future<int> discounted(int price) {
    wait(flow::delay(1));
    return price - 1;
}

#include "flow/unactorcompiler.h"
#endif
