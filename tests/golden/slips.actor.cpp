#include "flow/actorcompiler.h"

ACTOR Future<Void> misspelt(Future<Void> a, Future<int> b) {
    Wait(a);
    await a;
    int n = Wait(b);
    state int wait__ = n;
    wait(a);
    log(wait__);
    return Void();
}

static Future<Void> forgotten(Future<Void> a) {
    wait(a);
    return Void();
}

static Actor Future<Void> capital(Future<Void> a) {
    wait(a);
    return Void();
}

Actor Future<Void> first(Future<Void> a) {
    wait(a);
    return Void();
}

UNCANCELLABLE Future<Void> without(Future<Void> a);
