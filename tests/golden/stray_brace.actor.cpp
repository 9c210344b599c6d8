namespace inner {
ACTOR Future<int> first(Future<int> f) {
    int x = wait(f);
    if (x) {
        report(x);
    }
    }
    return x;
}

ACTOR Future<Void> second(Future<Void> f) {
    wait(f);
    return Void();
}
} // namespace inner
