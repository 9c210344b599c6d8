#include "flow/flow.h"
using namespace flow;
#include "flow/actorcompiler.h"

state int outside = 2;
state std::string text;
void plain() {
    state std::vector<int> numbers;
}

ACTOR Future<int> commas(Future<int> x Future<int> y, int a int b,) {
    int t = wait(x);
    return t;
}

ACTOR Future<int> slips(Future<int> x, Future<Void> y) {
    int state a = 1;
    std::vector<int> state b;
    loop (a < 3) {
        int v = wait(x);
        a += v;
    }
    try {
        wait(y);
    } catch (e) {
        state throw e;
    }
    when(wait(y)) {
        a = 1;
    }
    when(wait(delay(1))) {
    }
    return a;
}

ACTOR Future<int> several(Future<int> x) {
    int a, *b = nullptr, c[2] = {1, 2};
    const std::string s = "a,b", *const t = &s;
    static int counted = 0;
    enum class Kind { one, two };
    struct Pair {
        int a;
    } pair;
    int v = wait(x);
    return a + *b + c[0] + s.size() + t->size() + counted + int(Kind::one) + sizeof(Kind) + pair.a + v;
}

ACTOR Future<Void> loops(std::map<int, Future<Void>> m, std::vector<Future<Void>> n) {
    for (int i = 0, size = n.size(); i < size; i++) {
        wait(n[i]);
    }
    for (auto it = m.begin(); it != m.end(); ++it) {
        wait(it->second);
    }
    for (state int *first = nullptr, last = 2; first < &last; ++first) {
        wait(n[*first]);
    }
    return Void();
}

ACTOR Future<Void> thrown(Future<Void> x) {
    for (int i = 0; i < 3; i++)
        loops({}, {});
    loop {
        slips(1, x);
        wait(x);
    }
}

TEST_CASE(name) {
    wait(delay(1));
    return Void();
}
TEST_CASE("/a", int x) {
    wait(delay(1));
    return Void();
}

DESCR struct S {
    int a;
    double b
}

ACTOR Future<Void> misspeltError(Future<Void> f) {
    try {
        wait(f);
    } catch (Eror& e) {
        throw e;
    }
    return Void();
}

ACTOR Future<int> nameInType(Future<int> f) {
    try {
        int x = wait(f);
        return x;
    } catch (int (*g)(int)) {
        return g(1);
    } catch (char const (&)[3]) {
        return 2;
    } catch (Error& e) {
        return 3;
    } catch (...) {
        return 4;
    }
}
