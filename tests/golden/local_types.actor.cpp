ACTOR Future<Void> types(Future<Void> f) {
    using Numbers = std::vector<int>;
    typedef std::map<int, int> Table;
    struct Point {
        int x, y;
    };
    enum class Color { Red, Green };
    state Numbers numbers;
    state std::vector<Table> tables;
    state Point point;
    state other::Color color;
    Numbers plain;
    wait(f);
    use(numbers, tables, point, color);
    return Void();
}
