ACTOR Future<Void> each(Map map) {
    for (int i = 0; i < 10; i++) {
        wait(delay(i));
    }
    for (auto& [key, value] : map.ranges()) {
        for (auto& inner : value.all()) {
            wait(inner);
        }
    }
    for (std::vector<int> copy = map.values(); int x : copy) {
        wait(delay(x));
    }
    for (int i = wait(first); i < 3; i++) {
        wait(delay(i));
    }
    return Void();
}
