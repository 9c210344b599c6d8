ACTOR Future<int> pick(int kind, Future<int> f) {
again:
    switch (kind) {
    case 0:
        return 1;
    case 1: {
        int x = wait(f);
        break;
    }
    default:
        goto again;
    }
    do {
        co_await f;
    } while (kind);
    return 0;
}
