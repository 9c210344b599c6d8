ACTOR Future<Void> f(Future<int> a) {
    state int attempts = 0;
    state bool never;
    state std::string name = describe(a);
    state int value = wait(a);
    state Future<Void> kept = g();
    attempts++;
    wait(kept);
    return Void();
}
