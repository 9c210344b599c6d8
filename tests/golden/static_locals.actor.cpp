ACTOR Future<Void> count(std::string name, Future<Void> ready) {
    std::string prefix = name + ": ";
    for (state int i = 0; i < 3; i++) {
        static auto&& passes = f();
        passes++;
        wait(ready);
    }
    return Void();
}
