ACTOR Future<Void> first(Future<Void> f) {
    loop {
        if (ready()) {
            wait(f);
            break;
        else {
            wait(delay(1));
        }
    }
    return Void();
}

ACTOR Future<Void> second(Future<Void> f) {
    wait(f);
    return Void();
}
