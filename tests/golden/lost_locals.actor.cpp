int outer;

ACTOR Future<int> sum(Future<int> a, Future<int> b) {
    int x = wait(a);
    int y = wait(b);
    return x + y;
}

ACTOR Future<Void> several(std::vector<Item> items, Future<Void> a) {
    const std::string name = "several";
    auto size = items.size();
    int i = 0, k = 1;
    try {
        wait(a);
        log(name, size, k);
    } catch (Error& e) {
        wait(delay(1));
        log(e);
        throw e;
    }
    loop {
        log(i);
        wait(delay(i));
        if (items.empty()) break;
    }
    for (const Item& item : items) {
        wait(item.done());
        log(item.name, items.size());
    }
    int outer = 3;
    wait(a);
    log(outer);
    return Void();
}

ACTOR Future<int> aligned(Future<Void> a) {
    alignas(64) int x = 7;
    wait(a);
    return x;
}
