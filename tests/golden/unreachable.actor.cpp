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

ACTOR Future<int> g(Future<int> a) {
    try {
        int x = wait(a);
        return x;
    } catch (Error& e) {
        if (e.code() == error_code_actor_cancelled)
            throw;
        return -1;
    }
    return 0;
}
