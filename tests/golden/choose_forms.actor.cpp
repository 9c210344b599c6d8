ACTOR Future<Void> either(Future<Void> a, FutureStream<int> b) {
    choose {
        log("choosing");
        when(a) {}
        when(wait(a) && wait(a)) {}
        when(int x = waitNext(b)) { return Void(); }
    }
    choose when(wait(a)) {}
    when(wait(a)) {}
    choose {}
    return Void();
}
