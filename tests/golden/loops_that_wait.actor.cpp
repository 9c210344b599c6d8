ACTOR Future<Void> each(Map map) {
    for (int i = 0; i < 10; i++) {
        wait(delay(i));
    }
    for (auto& [key, value] : map.ranges()) {
        wait(value);
    }
    for (auto& [key, value] : map) {
        wait(value);
    }
    return Void();
}
