ACTOR Future<int> total(int count, Future<int> a, Future<Void> b) {
    state int sum = 0;
    if (a.isReady()) {
        int sum = wait(a);
        log(sum);
        wait(b);
        sum++;
    }
    for (auto& count : a.counts()) {
        log(count);
    }
    wait(b);
    return sum + count;
}
