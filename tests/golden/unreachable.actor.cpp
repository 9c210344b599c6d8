ACTOR Future<int> f(Future<int> a) {
    loop {
        int x = wait(a);
        if (x) {
            return x;
            log(x);
        }
        continue;
        log("again");
    }
    return 0;
}
