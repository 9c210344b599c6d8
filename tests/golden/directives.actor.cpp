#if DEBUG
ACTOR Future<Void> fine(Future<Void> f) {
    wait(f);
    return Void();
}
#endif

ACTOR Future<Void> wrong(Future<Void> f) {
#ifdef DEBUG
    log("wrong");
#else
    wait(f);
#endif
#pragma once
    return Void();
}
