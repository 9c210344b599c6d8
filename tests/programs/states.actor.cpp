// How state variables are initialised, and what their declarations do when they are not the first of the body.
#include "flow/sim.h"
#include "trace.h"
#include <map>

#include "flow/actorcompiler.h"

struct Pair {
    int a = 1;
    int b = 2;
};

struct Explicit {
    explicit Explicit(int v) : v(v) {}
    int v;
};

static int twice(int x) {
    say("twice(%d)", x);
    return 2 * x;
}

// Leading states are initialised directly, in order, before the body: types need no default constructor.
ACTOR Future<Void> leading(int k, std::string name) {
    state int first = twice(k);
    state int second(twice(first));
    state Explicit third(second);
    state Explicit fourth{third.v + 1};
    state const int fifth = 5;
    state std::string& sixth = name;
    state std::vector<int> seventh(3, k);
    state std::vector<int> eighth{3, k};
    state std::vector<int> ninth = {1, 2, 3, 4};
    state int zero;
    state Pair pair;
    state std::map<std::string, int> table = std::map<std::string, int>();
    state std::unique_ptr<int> owner(new int(k));
    state int* pointer = &k;
    sixth += "!";
    *pointer += 1;
    wait(delay(0));
    say("%d %d %d %d %d", first, second, third.v, fourth.v, fifth);
    say("%s %zu %zu %zu", name.c_str(), seventh.size(), eighth.size(), ninth.size());
    say("%d %d %zu %d %d", zero, pair.b, table.size(), *owner, k);
    return Void();
}

// Others are default-constructed at the start and assigned at their declaration, at each pass through it.
ACTOR Future<Void> others(Token p) {
    wait(delay(0));
    for (state int i = 0; i < 2; i++) {
        state Token token("token " + std::to_string(i));
        state int counter;
        state std::vector<int> numbers;
        state unsigned long big(twice(i));
        state const char* text;
        state Pair pair{i, i + 1};
        state std::vector<int> list = {1, 2, 3};
        counter++;
        numbers.push_back(i);
        wait(delay(0));
        say("%d %zu %lu %s %d %zu", counter, numbers.size(), big, text ? text : "null", pair.b, list.size());
        text = "set";
    }
    say("the second token lives on");
    return Void();
}

// Parameters are the actor's own copies and keep what is done to them; so does a state in the result.
ACTOR Future<std::vector<int>> parameters(std::vector<int> v, int n) {
    v.push_back(n++);
    wait(delay(0));
    v.push_back(n);
    return v;
}

ACTOR Future<std::unique_ptr<int>> movedOut(int k) {
    state std::unique_ptr<int> result = std::make_unique<int>(k);
    wait(delay(0));
    return result;
}

// A local may hide a state; the state is what is left after the wait.
ACTOR Future<int> hidden(int x) {
    state int y = 10;
    {
        int y = x;
        y++;
        say("local y is %d", y);
        wait(delay(0));
    }
    {
        std::string y = "not the state";  // actorc: allow A0602
        say("y is %s", y.c_str());
    }
    return y;
}

int main() {
    SimLoop sim;
    sim.run(leading(3, "name"));
    say("--");
    sim.run(others(Token("p")));
    say("--");
    std::vector<int> mine{1};
    std::vector<int> theirs = sim.run(parameters(mine, 5));
    say("%zu %zu %d", mine.size(), theirs.size(), theirs[2]);
    say("%d", *sim.run(movedOut(6)));
    say("%d", sim.run(hidden(1)));
}
