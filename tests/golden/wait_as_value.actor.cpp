ACTOR Future<int> sum(Future<int> a, Future<int> b, int* out) {
    *out += wait(a);
    state auto first = wait(a);
    int second = wait(b) + 1;
    report(wait(a), [&] { return wait(b); });
    Void done = wait(success(a));
    return -wait(b);
}
