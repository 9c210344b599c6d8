// States that do not come first, of types that cannot be made before there is a value or cannot be assigned to; arrays;
// and when they are destroyed.
#include "flow/sim.h"
#include "trace.h"
#include <array>
#include <map>

#include "flow/actorcompiler.h"

/// Has no default constructor and cannot be assigned to.
class Fixed {
public:
    Fixed(const char* name, int value) : name_(std::make_unique<Token>(name)), value_(value) {}
    Fixed(Fixed&&) = default;

    int value() const { return value_; }
    void increment() { ++const_cast<int&>(value_); }

private:
    std::unique_ptr<Token> name_;
    const int value_;
};

/// Only copyable, from an int too.
struct Number {
    Number(int n) : n(n) {}
    Number(Number const&) = default;
    Number& operator=(Number const&) = delete;
    const int n;
};

ACTOR Future<Void> slots(int k) {
    wait(delay(1));
    state Fixed fixed("fixed", k);
    state const int constant = k + 1;
    state std::string const text{"text"};
    state Number number = k + 2;
    state Number braced{k + 3};
    state const Token token = Token("constant token");
    state const std::vector<int> list = {1, 2, 3};
    state const std::map<int, int> empty;
    state int* const pointer = &k;
    state [[maybe_unused]] const char* plain = "plain";
    fixed.increment();
    wait(delay(1));
    static_assert(std::is_same_v<decltype((constant)), const int&>);
    say("%d %d %s %d %d %s", fixed.value(), constant, text.c_str(), number.n, braced.n, token.name());
    say("%zu %zu %d %s", list.size(), empty.size(), *pointer, plain);
    return Void();
}

// At each pass the new object takes the place of the old one.
ACTOR Future<Void> inLoop() {
    state int i = 0;
    wait(delay(1));
    loop {
        state Fixed each(i % 2 ? "odd" : "even", i);
        if (i == 2)
            state Fixed sometimes("sometimes", i);
        state const int square = i * i;
        say("pass %d %d", each.value(), square);
        wait(delay(1));
        if (++i == 4)
            return Void();
        say("end of pass %d", each.value());
    }
}

// A state is never made if its declaration is not reached.
ACTOR Future<int> notReached(int path) {
    wait(delay(1));
    if (path) {
        state Fixed first("first", 1);
        if (path > 1)
            return first.value();
        state Fixed second("second", 2);
        wait(delay(1));
        say("%d %d", first.value(), second.value());
        throw timed_out();
    }
    return 0;
}

static Fixed fails() {
    throw io_error();
}

ACTOR Future<Void> initialiserThrows() {
    state int i = 0;
    for (; i < 3; i++) {
        try {
            wait(delay(1));
            state Fixed fixed = i == 1 ? fails() : Fixed("made", i);
            say("value %d", fixed.value());
        } catch (Error& e) {
            say("%s", e.name());
        }
    }
    return Void();
}

ACTOR Future<Number> makeNumber(int k) {
    wait(delay(1));
    return Number(k);
}

ACTOR Future<Void> results() {
    state Number first = wait(makeNumber(1));
    state int sum = first.n;
    choose {
        when(state Number second = wait(makeNumber(2))) { sum += second.n; }
        when(wait(delay(5))) {}
    }
    const Number third = wait(makeNumber(3));
    say("%d", sum + third.n);
    return Void();
}

ACTOR Future<int> arrays(int k) {
    state int leading[3] = {k, k + 1};
    state const char* names[2] = {"a", "b"};
    state char letters[4] = "xyz";
    state Token tokens[2] = {Token("zero"), Token("one")};
    state const int table[2][2] = {{1, 2}, {3, 4}};
    state int sum = 0;
    wait(delay(1));
    for (state int i = 0; i < 2; i++) {
        state int zero[2];
        state int later[2] = {i, k};
        state std::unique_ptr<int> owners[2]{std::make_unique<int>(i)};
        state char word[8] = "word";
        state std::string grid[2][2] = {{"a"}, {"b", "c"}};
        zero[i]++;
        grid[0][1] += "!";
        wait(delay(1));
        say("%d %d %d %d %s %s", zero[0], zero[1], later[0] + later[1], *owners[0], word, grid[0][1].c_str());
    }
    for (int x : leading) {
        sum += x;
        wait(delay(1));
    }
    say("%s %s %s %d", names[0], names[1], letters, table[1][0]);
    return sum;
}

ACTOR Future<Void> headers() {
    for (state int first(0); first < 2; first++)
        wait(delay(1));
    state int i = 2;
    for (state std::string s{"ab"}; !s.empty(); s.pop_back()) {
        wait(delay(1));
        say("%s", s.c_str());
    }
    for (state const int limit = 3; i < limit; i++) {
        wait(delay(1));
        say("i %d", i);
    }
    for (state int a[2] = {1, 2}; a[0] < a[1]; a[0]++)
        wait(delay(1));
    for (state int low = 0, high = i; low < high; low++, high--) {
        wait(delay(1));
        say("%d to %d", low, high);
    }
    for (state std::string front("a"), back = "b"; char c : {'x', 'y'}) {
        say("%s %c %s", front.c_str(), c, back.c_str());
        wait(delay(1));
    }
    for (state Fixed f("in header", 1);;) {
        wait(delay(1));
        say("%d", f.value());
        break;
    }
    for (state int plain = 0; plain < 1; plain++)
        say("no wait");
    while (Token t = i < 5 ? Token("while " + std::to_string(i)) : Token()) {
        i++;
        if (i == 4)
            continue;
        wait(delay(1));
        say("after %d", i);
    }
    for (i = 0; Token t = i < 3 ? Token("for " + std::to_string(i)) : Token(); i++) {
        if (i == 1)
            continue;
        wait(delay(1));
        say("after %d", i);
    }
    if (int n = i; n == 3) {
        wait(delay(1));
        say("three");
    }
    return Void();
}

// Leading references name what the caller or an earlier state has; returning one copies.
ACTOR Future<std::string> references(std::string* text, std::string own) {
    state std::string& theirs = *text;
    state const std::string& same = theirs;
    state std::string&& moved = std::move(own);
    wait(delay(1));
    theirs += "!";
    say("%s %s", same.c_str(), moved.c_str());
    return theirs;
}

template <class T>
struct Box {
    struct Inner {
        T value = 3;
    };

    // While Box is not complete, it is unknown whether an Inner can be made.
    ACTOR static Future<T> inner(T start) {
        wait(delay(1));
        state Inner made = Inner{start};
        state const Inner constant{made.value + 1};
        wait(delay(1));
        return made.value + constant.value;
    }
};

ACTOR template <class T>
Future<Void> ofAnyType(T value) {
    wait(delay(1));
    state T copy = value;
    state const T constant(value);
    wait(delay(1));
    say("%d %d", copy.n, constant.n);
    return Void();
}

// States are destroyed last declared first, those in slots among them; then the parameters.
ACTOR Future<Void> order(Token parameter, int path) {
    state Token first("first");
    wait(delay(1));
    state const Token second("second");
    state Token third("third");
    state Fixed fourth("fourth", 4);
    if (path)
        wait(Never());
    state Token fifth("fifth");
    return Void();
}

// Can be made, and nothing else.
struct Pinned {
    Pinned() = default;
    Pinned(Pinned const&) = delete;
    Pinned& operator=(Pinned const&) = delete;

    int value = 7;
    Token token{"pinned"};
};

ACTOR template <class T>
Future<int> pinned() {
    state int sum = 0;
    state int pass;
    for (pass = 0; pass < 2; pass++) {
        wait(delay(1));
        state Pinned one;
        state T other;
        state const Pinned fixed;
        sum += one.value++ + other.value++ + fixed.value;
        wait(delay(1));
        say("pass %d: %d %d", pass, one.value, other.value);
    }
    return sum;
}

int main() {
    SimLoop sim;
    sim.run(slots(7));
    say("-- in loop");
    sim.run(inLoop());
    for (int path = 0; path < 3; ++path) {
        say("-- not reached %d", path);
        sim.run(watch("not reached", notReached(path)));
    }
    say("-- initialiser throws");
    sim.run(initialiserThrows());
    say("-- results");
    sim.run(results());
    say("-- arrays");
    say("%d", sim.run(arrays(5)));
    say("-- headers");
    sim.run(headers());
    say("-- references");
    std::string text = "text";
    say("%s", sim.run(references(&text, "own")).c_str());
    say("%s", text.c_str());
    say("%d", sim.run(Box<int>::inner(4)));
    sim.run(ofAnyType(Number(8)));
    say("-- order");
    sim.run(order(Token("parameter"), 0));
    Future<Void> cancelled = order(Token("parameter"), 1);
    sim.run(delay(2));
    say("cancel");
    cancelled.cancel();
    say("%d", sim.run(pinned<Pinned>()));
}
