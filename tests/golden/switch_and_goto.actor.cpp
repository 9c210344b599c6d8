ACTOR Future<int> pick(int kind, Future<int> f) {
again:
    switch (kind) {
    case 0:
        if (kind) {
        case 1:
            return 1;
        }
    case 2: {
        int x = wait(f);
        break;
    }
    default:
        goto again;
    }
    switch (kind) {
    case:
        return 1;
    default:
        continue;
    }
    switch (kind) kind++;
    do {
        co_await f;
    } while (wait(f));
    do {
        kind++;
    }
    extern int other;
    int y = wait(f);
    return other + y;
}
