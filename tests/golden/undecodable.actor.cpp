// café
ACTOR Future<Void> f(Future<Void> a) {
    wait(a);
    return Void();
}
