// Actors in classes: defined there or outside, static or not, private, nested, overloaded; and in namespaces.
#include "flow/sim.h"
#include "trace.h"
#include "flow/actorcompiler.h"

namespace store {

class Table {
public:
    explicit Table(int start) : value_(start) {}

    ACTOR static Future<int> inside(Table* self, int add) {
        wait(delay(kPause));
        self->value_ += add;
        return self->value_;
    }
    ACTOR static Future<int> outside(Table* self, int add = 5);
    ACTOR static Future<std::string> outside(Table* self, std::string text);
    ACTOR static void logs(Table* self, int times = 2);
    ACTOR Future<int> unbound(int x) {
        wait(delay(1));
        return x * 2;
    }
    Future<int> both() { return sum(this); }

    struct Row {
        ACTOR static Future<int> deep(Table* table, Row row);
        int weight = 1;

    private:
        static int factor() { return 10; }
    };

private:
    ACTOR static Future<int> sum(Table* self) {
        state int first = wait(inside(self, 1));
        int second = wait(outside(self));
        return first + second;
    }

    static constexpr int kPause = 1;
    static int bonus() { return 100; }
    int value_;
};

ACTOR Future<int> Table::outside(Table* self, int add) {
    wait(delay(kPause));
    self->value_ += add + bonus();
    return self->value_;
}

ACTOR Future<std::string> Table::outside(Table* self, std::string text) {
    wait(delay(kPause));
    return text + std::to_string(self->value_);
}

ACTOR void Table::logs(Table* self, int times) {
    state int i = 0;
    for (; i < times; i++) {
        wait(delay(kPause));
        say("value %d", self->value_);
    }
}

ACTOR Future<int> inNamespace(Table* table, int add = 3) {
    int x = wait(Table::inside(table, add));
    return x;
}

ACTOR Future<int> later(int x);

} // namespace store

ACTOR Future<int> store::Table::Row::deep(Table* table, Row row) {
    wait(delay(1));
    return table->value_ * row.weight * factor();
}

ACTOR Future<int> store::later(int x) {
    wait(delay(1));
    return -x;
}

// Two of the same name at the top, one of them static.
ACTOR Future<int> overloaded(int x) {
    wait(delay(0));
    return x;
}

ACTOR static Future<int> overloaded(std::string x) {
    wait(delay(0));
    return int(x.size());
}

ACTOR Future<int> factorial(int n);
ACTOR Future<int> factorial(int n) {
    if (n < 2)
        return 1;
    int below = wait(factorial(n - 1));
    return n * below;
}

ACTOR [[flow_allow_discard]] [[gnu::noinline]] static Future<Void> withAttributes(int a, std::vector<int> b = {1, 2}) {
    wait(delay(a));
    say("%zu", b.size());
    return Void();
}

int main() {
    SimLoop sim;
    store::Table table(1);
    say("%d", sim.run(store::Table::inside(&table, 1)));
    say("%d", sim.run(store::Table::outside(&table)));
    say("%s", sim.run(store::Table::outside(&table, "value ")).c_str());
    say("%d", sim.run(table.both()));
    say("%d", sim.run(table.unbound(4)));
    say("%d", sim.run(store::Table::Row::deep(&table, {2})));
    say("%d", sim.run(store::inNamespace(&table)));
    say("%d", sim.run(store::later(4)));
    store::Table::logs(&table);
    sim.run();
    say("%d %d", sim.run(overloaded(6)), sim.run(overloaded("seven")));
    say("%d", sim.run(factorial(5)));
    sim.run(withAttributes(1));
}
