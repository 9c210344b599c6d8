ACTOR Future<Void> states(Future<Void> f) {
    state auto a = 1;
    state int b[3];
    state int c = 1, d = 2;
    state int;
    state Pair [e, g] = pair();
    state = 3;
    wait(f);
    return Void();
}
