ACTOR Future<Void> f(Future<Void> a) {
    wait(a);
    return Void();
}
/* the rest of the file is lost
