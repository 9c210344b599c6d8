ACTOR Future<int> sum(Future<int> a, Future<int> b, int* out) {
    *out += wait(a);
    state auto first = wait(a);
    int second = wait(b) + 1;
    report(wait(a), [&] { return wait(b); });
    Void done = wait(success(a));
    int third = out ? wait(a) : wait(b);
    wait(a, b);
    return -wait(b);
}
