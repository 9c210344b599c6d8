ACTOR Future<Void> f(Future<Void> a) {
    wait(a));
    for (state int i = 0; i < 3) {
        wait(a);
    }
    try {
        wait(a);
    }
    wait();
    int& x = wait(a);
    static int y = wait(a);
    if (a.isReady()) return Void(); else
}

ACTOR Future<Void> switches(int x, Future<Void> a) {
    auto l = [] {
        state int y = 2;
        return y;
    };
    co_await a;
    int z = co_await l();
    if (x) co_return Void();
    when (wait(a)) {}
    return Void();
}

ACTOR Future<Void> caught(Future<Void> a) {
    wait(a);
    catch (Error& e) {
        throw;
    }
    return Void();
}
