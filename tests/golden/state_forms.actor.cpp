ACTOR Future<Void> states(Future<Void> f) {
    state auto a = 1;
    state int b[];
    state static int s = 1;
    state int *c = nullptr, *d;
    state int;
    state Pair [e, g] = pair();
    state const unsigned long h, i = 1;
    state char const* const j;
    state = 3;
    wait(f);
    state std::string& r = name();
    if (state int n = 3; n) wait(f);
    return Void();
}
