const char* outside = "fine although it has no end;

ACTOR Future<Void> f(Future<Void> done) {
    log("no end);
    wait(done);
    log('x);
    wait(done));
    return Void();
}

auto raw = R"x(never ends)";
