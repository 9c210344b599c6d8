// Plain C++ among waits: static locals, labels, local classes, lambdas, braces in expressions, statements without blanks.
#include "flow/sim.h"
#include "trace.h"
#include <map>
#include <utility>

#include "flow/actorcompiler.h"

static int made(const char* name, int value) {
    say("made %s", name);
    return value;
}

// A loop that waits while a token is alive is in the emitted code twice, and its static variables are there once.
ACTOR Future<Void> statics(int passes) {
    Token token("token");
    static int before = made("before", 100);
    say("before %d", ++before);
    for (state int i = 0; i < passes; i++) {
        static int count = made("count", 10);
        static const std::string text = "text " + std::to_string(passes);
        static std::map<std::string, int> seen{{"first", 1}};
        static int& alias = count;
        static auto* pointer = &alias;
        static auto const& same = text;
        static std::pair<int, int> both(i, passes);
        static int zero;
        count++;
        zero += 2;
        seen["pass"]++;
        if (i == 1) {
            static int inner(made("inner", i));
            inner++;
            say("inner %d", inner);
        }
        say("count %d %d, %s, %d, %d %d", count, zero, same.c_str(), seen["pass"], *pointer, both.second);
        wait(delay(1));
        static int after = made("after", 0);
        say("after %d", ++after);
    }
    return Void();
}

template <class T>
struct Counter {
    ACTOR static Future<Void> run(T step) {
        state int i = 0;
        Token token("counter");
        do {
            static T total = T(made("total", 0));
            total += step;
            say("total %g", double(total));
            if (i == 0)
                wait(delay(1));
        } while (++i < 2);
        return Void();
    }
};

// Constants need not be in one place, and where nothing stands twice a static is C++'s own.
ACTOR Future<Void> others() {
    Token token("others");
    for (state int i = 0; i < 2; i++) {
        static constexpr auto limit = 3;
        wait(delay(limit));
    }
    wait(delay(1));
    for (state int j = 0; j < 2; j++) {
        static auto deduced = made("deduced", 5);
        say("%d", ++deduced);
        wait(delay(1));
    }
    return Void();
}

struct V {
    int a = 0;
    int b = 0;
    int sum() const { return a + b; }
    V operator+(V other) const { return {a + other.a, b + other.b}; }
};

ACTOR Future<int> expressions(int n) {
    state int total = V{1, 2}.sum();
    total += [] { return 4; }();
    total += n > 0 ? V{n, 1}.sum() : V{}.sum();
    wait(delay(1));
    total += (V{1, 1} + V{2, 2}).sum();
    V local{3, 4};
    auto add = [&](int x) {
        if (x < 0)
            return total;
        for (int i = 0; i < x; i++) {
            if (i == 2)
                break;
            total += i;
        }
        return total;
    };
    struct Local {
        int value;
        int get() const { return value; }
        bool operator<(Local const& other) const { return value < other.value; }
    } first{5}, second{6};
    enum class Kind { A, B } kind = Kind::B;
    using Pairs = std::vector<std::pair<int, int>>;
    Pairs pairs = {{1, 2}, {3, 4}};
    auto [x, y] = pairs[1];
    add(local.sum());
    total += first < second ? first.get() : second.get();
    total += x + y + (kind == Kind::B ? 1 : 0);
    wait(delay(1));
    return total;
}

ACTOR Future<int> layout(int n){
    state int sum=0;;
    ;
    if(n)sum++;else sum--;
    if(n>1){sum+=10;}else if(n==1){sum+=20;}
    {}
    if (n) {}
    for(;sum<0;sum++);
    while(n>3)n--;
    do--n;while(n>0);
    wait(delay(1));;
    if(sum>100)return 100;
    if (sum > 100)
        [[maybe_unused]] here:
        sum++;
    [[maybe_unused]] there:
    sum += 2;
    for(state int i=0;i<3;i++)wait(delay(1));
    try{if(sum)throw timed_out();}catch(Error&e){sum+=e.code()==error_code_timed_out;}
    loop{if(sum++>50)break;wait(delay(1));continue;}
    switch(sum){case 1:break;default:;}
    return sum;
}

int main() {
    SimLoop sim;
    say("-- statics");
    sim.run(statics(2));
    sim.run(statics(1));
    sim.run(Counter<int>::run(2));
    sim.run(Counter<double>::run(0.5));
    sim.run(Counter<int>::run(3));
    say("-- others");
    sim.run(others());
    say("%d", sim.run(expressions(3)));
    for (int n = 0; n < 3; ++n) {
        say("%d", sim.run(layout(n)));
    }
}
