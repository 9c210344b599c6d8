ACTOR Future<Void> a(Future<Void> f) {
    wait(f);
    return;
}

ACTOR void b(Future<Void> f) {
    wait(f);
    return Void();
}

ACTOR Future<std::string> c(Future<Void> f) {
    if (f.isReady()) {
        return "ready";
    }
    wait(f);
}
