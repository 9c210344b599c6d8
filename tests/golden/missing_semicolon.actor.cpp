ACTOR Future<Void> f(Future<Void> done) {
    state int count = 0
    state Value* value = find("key");
    count++
    wait(done);
    auto twice = [](int x) { return 2 * x; }
    if (twice(count) > 3) {
        return Void()
    }
    Pair pair{1, 2}
    {
        count += pair.first;
        wait(done);
    }
    throw timed_out();
}
