ACTOR Future<Void> outer(Future<Void> f) {
    ACTOR Future<int> inner(Future<int> g) {
        int x = wait(g);
        return x;
    }
    int y = wait(inner(1));
    return Void();
}
ACTOR Future<Void> missing(Future<Void> f) {
    if (f.isReady()) {
        wait(f);
    return Void();
}
ACTOR Future<Void> next(Future<Void> f) {
    wait(f);
    return Void();
}
